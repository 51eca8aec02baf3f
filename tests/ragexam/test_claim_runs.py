"""Claims of free-text answers through the commands: known claims and passages give known scores; killed; labelled."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from examcore import Chunk, Progress, Question, write_chunks, write_exam
from ragexam._config import GridSettings
from ragexam._run import HERE as THIS_PROCESS
from ragexam._run import run_sitting
from ragexam.report import _claim_scores
from ragexam.report._claimed_answers import FreeTextAnswer, passage_texts
from tests.command_line import ragexam_here, run_here
from tests.rag.faulty_server import Body, Say, Server, chat, serving

ROOT = Path(__file__).parents[2]
FIRST, SECOND, OTHER = "The red train arrives at noon.", "Its driver is called Lee.", "The old bridge is made of iron."
STEMS = {"q1": "When does the train arrive?", "q2": "Who drives the train?", "q3": "What colour is the train?"}
REPLIES: dict[str, dict[str, Any]] = {
    # Two claims, of which the passages state one; both passages are given, one of them the source.
    STEMS["q1"]: {"answer": "It arrives at noon [1]. It costs five pounds [2].", "passages": ["c1", "c2"]},
    # It says all that the source says, and reads another passage alone.
    STEMS["q2"]: {"answer": f"{FIRST} {SECOND}", "passages": ["c2"]},
    STEMS["q3"]: {"answer": "I do not know.", "passages": ["c1"]},
}


@pytest.fixture
def exam(tmp_path: Path) -> Path:
    """Three questions from one passage of two sentences; another passage says something else."""
    choices = {"q1": ("at noon", "by night"), "q2": ("Lee", "Kim"), "q3": ("red", "blue")}
    questions = [
        Question(one, STEMS[one], choices[one], 0, chunk_id="c1", document_id="d", context=f"{FIRST} {SECOND}")
        for one in STEMS
    ]
    write_exam(tmp_path / "exam.jsonl", questions)
    texts = {"c1": f"{FIRST} {SECOND}", "c2": OTHER}
    write_chunks(tmp_path / "chunks.jsonl", [Chunk(one, "d", text, 0, len(text)) for one, text in texts.items()])
    return tmp_path / "exam.jsonl"


def script(server: Server, path: str, body: Body) -> Say:
    """A system that answers as above, and a judge for whom the words of a claim, but the question's, must all occur."""
    if path == "ask":
        return Say(REPLIES[body["question"]])
    if path == "models":
        return Say({"data": [{"id": "scripted"}]})
    text, claim = body["messages"][-1]["content"].split("Sentence:")
    claim = claim.split("\n\n")[0].split("?")[-1]
    words = {word.strip(".") for word in claim.lower().split()} - {"it"}
    return Say(chat("Yes" if words <= {word.strip(".") for word in text.lower().split()} else "No"))


def judge(server: Server) -> dict[str, Any]:
    return {"model": f"openai:scripted@{server.url}", "server": {"concurrency": 1, "retries": 0, "timeout": 20}}


def sat(server: Server, exam: Path, out: Path, **options: Any) -> None:
    own = {"name": "box", "system": f"{server.url}/ask", "choices": False, "server": {"retries": 0}}
    grid = GridSettings(**{"black_boxes": [own], "claims": judge(server), **options})
    run_sitting(exam, grid, out, THIS_PROCESS, 0, Progress(io.StringIO()))


def judged(server: Server) -> int:
    """How many requests were about claims."""
    return sum("Sentence:" in str(body) for _, body in server.asked)


def told(*words: object) -> tuple[int, str, str]:
    return run_here(ROOT, "ragexam", list(map(str, words)))


def scores_of(run: Path, *words: object) -> dict[str, Any]:
    status, out, message = told("answers", run, "--json", "--quiet", *words)
    assert (status, message) == (0, "")
    (found,) = json.loads(out)["claims"]["pipelines"].values()
    return dict(found)


def test_known_claims_and_passages_give_known_scores(exam: Path, tmp_path: Path) -> None:
    with serving(script) as server:
        sat(server, exam, tmp_path / "out")
        asked = judged(server)
        found = scores_of(tmp_path / "out", "--claims", f"openai:scripted@{server.url}")
        assert judged(server) == asked
        # Each text states its own sentences, and an answer that declines states nothing: nobody is asked about that.
        # Left are two claims of q1 by all passages and by what they cite, two of q2 by its passage, two of the source
        # by the answer to q1, and two by the passage that q2 read.
        assert asked == 2 + 2 + 2 + 2 + 2
    assert found["answers"] == 3
    assert found["claims"] == 4
    # Half of q1, none of q2; q3 states nothing.
    assert (found["faithfulness"]["estimate"], found["faithfulness"]["answers"]) == (0.25, 2)
    assert found["unstated"] == 3
    # The sentence on noon is cited from c1, that on pounds from c2.
    assert found["citation_support"]["estimate"] == 0.5
    # q1 says neither sentence whole, q2 both, q3 none.
    assert found["answer_coverage"]["estimate"] == pytest.approx(1 / 3)
    assert found["context_precision"]["estimate"] == pytest.approx((1 / 2 + 0 + 1) / 3)
    assert found["context_recall"]["estimate"] == pytest.approx((1 + 0 + 1) / 3)
    # Of what is missing from q1 and q3 the passages had all; q2 said what its passage did not.
    assert found["lost_in_retrieval"]["estimate"] == 0
    assert found["lost_in_answering"]["estimate"] == pytest.approx(2 / 3)
    assert 0 < found["answer_coverage"]["low"] < 1 / 3 < found["answer_coverage"]["high"] < 1


@pytest.mark.parametrize(("word", "said"), [("Yes", "stated"), ("No", "not stated")])
def test_a_judge_that_always_says_the_same_is_warned_of(
    exam: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str, said: str
) -> None:
    def always(server: Server, path: str, body: Body) -> Say:
        return Say(chat(word)) if "messages" in body else script(server, path, body)

    with serving(always) as server:
        sat(server, exam, tmp_path / "out")
    assert "hardly tells claims apart" not in told("answers", tmp_path / "out")[1]  # ten decisions are too few
    monkeypatch.setattr(_claim_scores, "FEWEST_DECIDED", 10)
    assert f"It said {said} for 10 of them: such a judge hardly tells" in told("answers", tmp_path / "out")[1]


def test_another_judge_takes_the_place_of_the_first(exam: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with serving(script) as server:
        sat(server, exam, out, claims=None)
        assert judged(server) == 0
        assert json.loads(told("answers", out, "--json")[1])["claims"] is None
        first = scores_of(out, "--claims", f"openai:scripted@{server.url}")
        asked = judged(server)
        assert asked
        assert scores_of(out) == first
        assert judged(server) == asked
        scores_of(out, "--claims", f"openai:other@{server.url}")
        assert judged(server) == 2 * asked
    lines = [json.loads(line) for line in (out / "claims.jsonl").read_text().splitlines()]
    assert {one["judge"] for one in lines} == {f"openai:other@{server.url}, argue-1, reply"}


@pytest.mark.parametrize(
    ("reply", "reasons"),
    [
        (
            {"answer": "It arrives at noon."},
            dict.fromkeys(
                ("faithfulness", "context_precision", "context_recall", "lost_in_answering"), "no passages given"
            ),
        ),
        (
            {"answer": "It arrives at noon.", "passages": ["page 7"]},
            dict.fromkeys(("faithfulness", "context_recall"), "the texts of its passages are not known"),
        ),
        ({"answer": "I do not know.", "passages": ["c1"]}, {"faithfulness": "no answer states anything"}),
        ({"answer": "…", "passages": ["c1"]}, {"faithfulness": "no answer states anything"}),
        ({"answer": "", "passages": ["c1"]}, {"faithfulness": "no answer states anything"}),
    ],
)
def test_what_cannot_be_told_is_no_zero(
    exam: Path, tmp_path: Path, reply: dict[str, Any], reasons: dict[str, str]
) -> None:
    def always(server: Server, path: str, body: Body) -> Say:
        return Say(reply) if path == "ask" else script(server, path, body)

    with serving(always) as server:
        sat(server, exam, tmp_path / "out")
        found = scores_of(tmp_path / "out")
        shown = told("answers", tmp_path / "out")[1]
    for name, reason in {**reasons, "citation_support": "no sentence cites a passage"}.items():
        assert found[name] == {"estimate": None, "low": None, "high": None, "answers": 0, "reason": reason}
        assert reason in shown
    assert found["answer_coverage"]["estimate"] == 0


def test_passages_that_are_texts_need_no_corpus(exam: Path, tmp_path: Path) -> None:
    reply = {"answer": "It arrives at noon.", "passages": [f"Timetable. {FIRST}", OTHER]}

    def always(server: Server, path: str, body: Body) -> Say:
        return Say(reply) if path == "ask" else script(server, path, body)

    with serving(always) as server:
        sat(server, exam, tmp_path / "out")
        found = scores_of(tmp_path / "out")
    assert found["faithfulness"]["estimate"] == 1
    assert found["context_precision"]["estimate"] == 0.5
    assert found["context_recall"]["estimate"] == 0.5


def test_a_source_in_a_script_without_spaces_has_claims() -> None:
    train, colour = "火车中午到达。", "它是红色的。"
    asked = Question(
        "q", "火车什么时候到达？", ("中午", "晚上"), 0, context=f"{train}{colour}好。", metadata={"language": "zh"}
    )
    given = passage_texts((colour, "c1"), {}, "zh")
    answer = FreeTextAnswer("box", asked, f"{train}[1]", 0, (colour, "c1"), given)
    assert given == (colour, None)
    assert answer.source == [train, colour]
    assert [one.cites for one in answer.claims] == [(0,)]
    assert answer.holding() is None


def test_claims_that_got_no_reply_stay_open(exam: Path, tmp_path: Path) -> None:
    busy = True

    def often_busy(server: Server, path: str, body: Body) -> Say:
        is_hard = busy and "costs five" in str(body)
        return Say(b"busy", 500) if is_hard else script(server, path, body)

    with serving(often_busy) as server:
        with pytest.raises(OSError, match=r"judge openai:.*: \d claims not judged: status 500"):
            sat(server, exam, tmp_path / "out")
        asked, busy = judged(server), False
        sat(server, exam, tmp_path / "out")
        assert 0 < judged(server) - asked < 5
        assert scores_of(tmp_path / "out")["faithfulness"]["estimate"] == 0.25


def test_claims_are_labelled_by_hand_without_the_judges_decision(exam: Path, tmp_path: Path) -> None:
    sheet, out = tmp_path / "sheet.jsonl", tmp_path / "out"
    with serving(script) as server:
        sat(server, exam, out)
    assert told("answers", out, "--claim-sheet", sheet)[0] == 0
    items = [json.loads(line) for line in sheet.read_text().splitlines()]
    assert all(set(one) == {"format", "question", "claim", "text", "lang", "dir", "label"} for one in items)
    assert json.loads(told("answers", out, "--json")[1])["claims"]["judged"] == len(items)
    decided = {
        (one["claim"], one["text"]): one["stated"]
        for one in map(json.loads, (out / "claims.jsonl").read_text().splitlines())
    }
    assert len(decided) == len(items)
    for one in items:
        one["label"] = "stated" if "noon" in one["claim"] and "c" in one["text"] else "not stated"
    sheet.write_text("".join(f"{json.dumps(one)}\n" for one in items))
    status, shown, _ = told("answers", out, "--claim-labels", sheet)
    assert (status, "labelled by hand, Cohen's kappa is" in shown) == (0, True)
    assert (out / "claim_labels.jsonl").is_file()
    items[0]["label"] = "good"
    sheet.write_text(json.dumps(items[0]))
    status, _, message = told("answers", out, "--claim-labels", sheet)
    assert (status, 'label is "good"; wanted stated or not stated' in message) == (2, True)
    status, _, message = told("answers", out, "--claim-sheet", sheet, "--sheet", sheet)
    assert (status, "wanted one of them" in message) == (2, True)
    sheet.write_text(json.dumps({**items[0], "label": "stated", "claim": "Else."}))
    status, _, message = told("answers", out, "--claim-labels", sheet)
    assert (status, "wanted a claim of the run" in message) == (2, True)


def test_answers_are_held_against_nuggets(exam: Path, tmp_path: Path) -> None:
    out, bank = tmp_path / "out", tmp_path / "nuggets.jsonl"
    made = {"q1": ["The train is red.", "It arrives at noon."], "q2": ["Lee drives the train."], "q9": ["Iron rusts."]}
    lines = [json.dumps({"qid": one, "nuggets": [{"text": text} for text in some]}) for one, some in made.items()]
    bank.write_text("\n".join(lines))
    with serving(script) as server:
        sat(server, exam, out)
        found = scores_of(out, "--nuggets", bank, "--claims", f"openai:scripted@{server.url}")
    # Each answer states one nugget of its question; the passages of q1 state both, that of q2 none, and q3 has none.
    assert (found["answer_coverage"]["estimate"], found["answer_coverage"]["answers"]) == (0.75, 2)
    assert (found["context_recall"]["estimate"], found["context_recall"]["answers"]) == (0.5, 2)
    # Whether passages hold the source is a matter of its sentences still.
    assert found["context_precision"]["estimate"] == pytest.approx((1 / 2 + 0 + 1) / 3)
    assert scores_of(out) == found
    assert told("report", out)[0] == 0
    assert "Answers are held against nuggets" in (out / "report.html").read_text()
    bank.write_text(lines[2])
    status, _, message = told("answers", out, "--nuggets", bank)
    assert (status, "has no nugget of 3 of 3 questions (such as 'q1'), but of 'q9'; wanted" in message) == (2, True)
    assert scores_of(out) == found


def test_the_page_shows_claims_grounds_and_passages(exam: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with serving(script) as server:
        sat(server, exam, out, claims=None)
        assert told("report", out)[0] == 0
        before = (out / "report.html").read_text()
        assert "What the answers claim" not in before
        scores_of(out, "--claims", f"openai:scripted@{server.url}")
    assert told("report", out)[0] == 0
    page = (out / "report.html").read_text()
    assert "What the answers claim" in page
    assert "3 of 4" in page
    assert 'It costs five pounds.</bdi> <span class="soft">(not stated: reply &#39;No&#39;)</span>' in page
    assert f'<blockquote lang="en" dir="auto">{OTHER}</blockquote>' in page
    assert "1 of 2 claims not stated" in page


def test_a_damaged_file_of_claims_is_named(exam: Path, tmp_path: Path) -> None:
    with serving(script) as server:
        sat(server, exam, tmp_path / "out")
    (tmp_path / "out" / "claims.jsonl").write_text('{"pipeline": "box"}\n')
    status, _, message = told("answers", tmp_path / "out")
    assert (status, "claims.jsonl:1: not a decision; wanted" in message) == (2, True)


@pytest.mark.slow
def test_kill_9_while_claims_are_judged_asks_nothing_twice(exam: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with serving(script, pause=0.1) as server:
        sat(server, exam, out, claims=None)
        words = ["answers", str(out), "--claims", f"openai:scripted@{server.url}", "--quiet"]
        command = [sys.executable, "-m", "ragexam", *words]
        for least in (2, 5):
            job = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            while judged(server) < least and job.poll() is None:
                time.sleep(0.02)
            job.send_signal(signal.SIGKILL)
            job.wait()
        assert ragexam_here(*words).returncode == 0
        bodies = [str(body) for _, body in server.asked if "Sentence:" in str(body)]
        # What was under way when the process died was asked again, and nothing else.
        assert len(bodies) - len(set(bodies)) <= 2 * 8
        again = len(bodies)
        assert ragexam_here(*words).returncode == 0
        assert judged(server) == again
