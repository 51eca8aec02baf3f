"""A blind audit: one drawn item after another; the key after the reader's own answer, labels at the very end."""

from __future__ import annotations

from pathlib import Path

from exam_gen.review import (
    FAULTS,
    AuditResult,
    Judgment,
    audit_result,
    audit_sheet,
    check_judgment,
    draw_audit_sample,
    labelled,
    read_judgments,
)
from examcore import Question, locked_log, write_lines
from ragexam.review._marked_passage import KEY, PLAIN, hidden_characters, pieces, spoken
from ragexam.review._run_files import RunFiles, now
from ragexam.review._server import Body, ConflictError, Query, number_of, place_of, text_of


class BlindAudit:
    """Serves a draw of survivors and drops and writes the log of judgments.

    Nothing that tells a survivor from a drop leaves this object before every item is judged, and no judgment is taken
    after that.
    """

    page = "audit.html"

    def __init__(self, run: Path, size: int, seed: int) -> None:
        self.files = RunFiles(run)
        self.draw = draw_audit_sample(self.files.exam, self.files.dropped, size, seed)
        self.log = self.files.folder.audit
        self.judgments = read_judgments(self.log, self.draw)
        self._chosen: dict[int, int] = {}
        self.reads = {"start": self._start, "item": self._item, "result": self._result}
        self.writes = {"answer": self._answer, "judge": self._judge}

    @property
    def is_over(self) -> bool:
        """Whether every item is judged."""
        return len(self.judgments) == len(self.draw.items)

    def result(self) -> AuditResult:
        """What the judgments so far say."""
        self.judgments = read_judgments(self.log, self.draw)
        return audit_result(self.draw, self.judgments)

    def write_sheet(self, path: Path) -> int:
        """Write the items, without their labels, as JSON lines for a judge without the page; returns their number."""
        rows = audit_sheet(self.draw, self.files.passages)
        write_lines(path, rows)
        return len(rows)

    def _start(self, _: Query) -> dict[str, object]:
        self.judgments = read_judgments(self.log, self.draw)
        return {
            "run": self.files.name,
            "faults": FAULTS,
            "seed": self.draw.seed,
            "items": len(self.draw.items),
            "judged": sorted(self.judgments),
        }

    def _item(self, query: Query) -> dict[str, object]:
        """An item as far as it may be seen: its key only once the reader has answered."""
        number = place_of(query, len(self.draw.items))
        question = self._drawn(number)
        judged = self.judgments.get(number)
        answered = number in self._chosen or judged is not None
        chosen = self._chosen.get(number, judged.chosen if judged else None)
        passage = self.files.passage(question)
        evidence = str(question.metadata.get("evidence") or "")
        marked = [(text, kind if kind == KEY else PLAIN) for text, kind in pieces(passage, question.answer, evidence)]
        return {
            "item": number,
            "spoken": spoken(question),
            "question": question.stem,
            "choices": list(question.choices),
            "passage": marked if answered else [(passage, PLAIN)],
            "hidden": hidden_characters("\n".join([question.stem, *question.choices, passage])),
            "answered": answered,
            "chosen": chosen,
            "answer": question.key if answered else None,
            "faults": list(judged.faults) if judged else None,
            "note": judged.note if judged else "",
        }

    def _answer(self, body: Body) -> dict[str, object]:
        """The reader's own answer; the first one counts, for after it the key is seen."""
        number, chosen = number_of(body, "item"), number_of(body, "chosen")
        question = self._drawn(number)
        if not -1 <= chosen < len(question.choices):
            raise ValueError(f"item {number}: chosen is {chosen}; wanted -1 (none) to {len(question.choices) - 1}")
        if number not in self.judgments:
            self._chosen.setdefault(number, chosen)
        return self._item({"n": str(number)})

    def _judge(self, body: Body) -> dict[str, object]:
        number, faults = number_of(body, "item"), body.get("faults")
        if not isinstance(faults, list) or not all(isinstance(one, str) and one in FAULTS for one in faults):
            raise ValueError(f"request: faults; wanted a list, empty or of {', '.join(FAULTS)}")
        self.files.check_unchanged()
        with locked_log(self.log) as pen:
            self.judgments = read_judgments(self.log, self.draw)
            if self.is_over:
                raise ConflictError("the audit is over and its labels are known; another --seed draws another one")
            earlier = self.judgments.get(number)
            chosen = self._chosen.get(number, earlier.chosen if earlier else None)
            given = tuple(one for one in FAULTS if one in faults)
            judgment = Judgment(self.draw.id, number, given, now(), chosen, text_of(body, "note", ""))
            check_judgment(judgment, self.draw, "request")
            if chosen is None and earlier is None:
                raise ValueError(f"item {number}: not answered yet; wanted the reader's own answer first")
            pen.append(judgment.fields)
            self.judgments[number] = judgment
        return self._start({})

    def _result(self, _: Query) -> dict[str, object]:
        self.judgments = read_judgments(self.log, self.draw)
        if not self.is_over:
            left = len(self.draw.items) - len(self.judgments)
            raise ValueError(f"{left} items are not judged yet; labels are shown after the last one")
        found = audit_result(self.draw, self.judgments)
        return {"words": found.lines(), "items": labelled(self.draw, self.judgments)}

    def _drawn(self, number: int) -> Question:
        if not 1 <= number <= len(self.draw.items):
            raise ValueError(f"item {number}: not drawn; wanted 1 to {len(self.draw.items)}")
        return self.draw.items[number - 1].question
