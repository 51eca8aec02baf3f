import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from exam_gen.review._edits import read_edits
from ragexam.review import ExamEditor, ReviewServer
from ragexam.review._server import MAX_BODY
from tests.ragexam.review.reviewed_run import hostile_run, plain_run, served


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return plain_run(tmp_path / "run")


@pytest.fixture
def server(run: Path) -> Iterator[ReviewServer]:
    with served(ExamEditor(run)) as server:
        yield server


def ask(
    server: ReviewServer,
    name: str,
    body: object = None,
    headers: Mapping[str, str] | None = None,
    path: str | None = None,
    method: str | None = None,
) -> tuple[int, Any, Mapping[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    content = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    kind = {} if body is None else {"Content-Type": "application/json"}
    connection.request(
        method or ("GET" if body is None else "POST"),
        f"/{server.secret}/{name}" if path is None else path,
        content,
        {**kind, **(headers or {})},
    )
    response = connection.getresponse()
    text = response.read()
    found = json.loads(text) if response.headers.get_content_type() == "application/json" and text else text
    connection.close()
    return response.status, found, dict(response.headers)


def test_the_server_is_bound_to_this_machine_alone(server: ReviewServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    addresses = {one[4][0] for one in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
    for address in addresses:
        with pytest.raises(OSError, match=r"refused|unreachable"):
            socket.create_connection((str(address), server.server_port), timeout=2)


def test_the_page_has_a_strict_policy_and_no_script_of_its_own(server: ReviewServer) -> None:
    status, page, headers = ask(server, "")
    assert status == 200
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert "unsafe" not in policy
    assert "require-trusted-types-for 'script'" in policy
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert b" on" not in page.replace(b" one", b"").replace(b" on it", b"").replace(b" on the disk", b"")
    assert b"style=" not in page
    for name in ("page.js", "review.js", "editor.js", "audit.js", "review.css"):
        status, content, _ = ask(server, name)
        assert status == 200
        assert not any(
            word in content for word in (b"innerHTML", b"insertAdjacentHTML", b"document.write", b"eval(", b"http")
        )


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "", "localhost.evil.example"])
def test_a_foreign_host_is_refused(server: ReviewServer, run: Path, host: str) -> None:
    assert ask(server, "", headers={"Host": host})[0] == 421
    body = {"question": "q1", "action": "retire", "seen": 0}
    assert ask(server, "api/act", body, headers={"Host": host})[0] == 421
    assert not (run / "edits.jsonl").exists()


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_foreign_page_is_refused(server: ReviewServer, run: Path, headers: dict[str, str]) -> None:
    assert ask(server, "api/start", headers=headers)[0] == 403
    assert ask(server, "api/act", {"question": "q1", "action": "retire", "seen": 0}, headers)[0] == 403
    assert not (run / "edits.jsonl").exists()


def test_a_form_of_another_page_cannot_post(server: ReviewServer, run: Path) -> None:
    body = b'{"question": "q1", "action": "retire", "seen": 0}'
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        assert ask(server, "api/act", body, {"Content-Type": kind})[0] == 415
    assert not (run / "edits.jsonl").exists()


def test_nothing_is_served_without_the_secret(server: ReviewServer) -> None:
    for path in (
        "/",
        "/api/start",
        "/wrong/",
        f"/{server.secret[:-1]}/",
        f"/{server.secret}",
        "//",
        "/%00/",
        "/favicon.ico",
    ):
        status, found, _ = ask(server, "", path=path)
        assert status == 404, path
        assert "rows" not in str(found)


def test_only_named_files_are_served(server: ReviewServer) -> None:
    for name in ("../server.py", "server.py", "..%2fserver.py", "review.html/", "api/", "api/act", "exam.jsonl"):
        assert ask(server, name)[0] == 404, name
    assert ask(server, "api/start", {})[0] == 404
    assert ask(server, "", method="DELETE")[0] == 501


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b"[" * 100_000, 400),
        (b"\xff", 400),
        ({}, 400),
        ({"question": 3, "action": "accept", "seen": 0}, 400),
        ({"question": "q1", "action": "accept", "seen": "0"}, 400),
        ({"question": "q1", "action": "accept"}, 400),
        ({"question": "nobody", "action": "accept", "seen": 0}, 400),
        ({"question": "q1", "action": "edit", "seen": 0, "content": []}, 400),
        ({"question": "q1", "action": "edit", "seen": 0, "content": [1]}, 400),
        ({"question": "q1", "action": "edit", "seen": 0, "content": {"choices": ["a", "a"]}}, 400),
        ({"question": "q1", "action": "accept", "seen": 7}, 409),
    ],
)
def test_bad_requests_are_told_and_change_nothing(server: ReviewServer, run: Path, body: object, status: int) -> None:
    found = ask(server, "api/act", body)
    assert found[0] == status
    assert isinstance(found[1]["error"], str)
    assert "\n" not in found[1]["error"]
    assert read_edits(run / "edits.jsonl") == []
    assert ask(server, "api/act", {"question": "q1", "action": "accept", "seen": 0})[0] == 200


@pytest.mark.parametrize("number", ["0", "20", "-1", "", "x", "²", "9" * 5000])
def test_a_question_that_is_not_there_is_told(server: ReviewServer, number: str) -> None:
    status, found, _ = ask(server, f"api/question?n={quote(number)}")
    assert status == 400
    assert "wanted 1 to 19" in found["error"]


def test_long_and_endless_bodies_are_refused(server: ReviewServer) -> None:
    assert ask(server, "api/act", b"{}", {"Content-Length": str(MAX_BODY + 1)})[0] == 413
    assert ask(server, "api/act", b"{}", {"Content-Length": "-1"})[0] == 411
    assert ask(server, "api/act", b"{}", {"Content-Length": "two"})[0] == 411


def test_a_decision_is_in_the_log_when_it_is_answered(server: ReviewServer, run: Path) -> None:
    status, found, _ = ask(server, "api/act", {"question": "q1", "action": "retire", "seen": 0, "reason": "wrong key"})
    assert status == 200
    assert found["row"]["marks"] == ["read", "retired"]
    assert found["detail"]["reason"] == "retired: wrong key"
    assert read_edits(run / "edits.jsonl")[0].after == {"read": True, "reason": "retired: wrong key"}
    status, found, _ = ask(server, "api/act", {"question": "", "action": "undo", "seen": 1})
    assert found["undone"] == "retire"
    assert found["detail"]["reason"] is None
    assert ask(server, "api/act", {"question": "", "action": "undo", "seen": 2})[0] == 400


def test_of_many_at_once_one_decides_and_the_others_look_again(server: ReviewServer, run: Path) -> None:
    statuses: list[int] = []

    def post(number: int) -> None:
        statuses.append(ask(server, "api/act", {"question": f"q{number}", "action": "accept", "seen": 0})[0])

    threads = [threading.Thread(target=post, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200] + [409] * 7
    assert len(read_edits(run / "edits.jsonl")) == 1


def test_hostile_text_passes_through_unchanged_as_data(tmp_path: Path) -> None:
    desk = ExamEditor(hostile_run(tmp_path / "run"))
    with served(desk) as server:
        _, found, _ = ask(server, "api/start")
        assert len(found["rows"]) == 24
        for number, entry in enumerate(desk.review.entries.values(), start=1):
            if entry.question is not None:
                _, detail, headers = ask(server, f"api/question?n={number}")
                assert detail["question"] == entry.question.stem
                assert detail["choices"] == list(entry.question.choices)
                assert headers["Content-Type"].startswith("application/json")


def test_a_port_that_is_taken_is_named(server: ReviewServer, run: Path) -> None:
    with pytest.raises(ValueError, match=rf"--port {server.server_port}: .*wanted a free port"):
        ReviewServer(ExamEditor(run), server.server_port)
