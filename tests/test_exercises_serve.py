"""The exercises for an assistant: `python -m mha.exercises serve`, asked over a pipe as an editor asks it."""
import json
import subprocess
import sys

import pytest

from mha.exercises import EXERCISES
from mha.exercises.tutor import protocol, tools

RIGHT = """def causal_weights(scores):
    hidden = torch.ones_like(scores).tril() == 0
    return scores.masked_fill(hidden, -torch.inf).softmax(-1)
"""
WRONG = "def causal_weights(scores):\n    return scores.softmax(-1).tril()"


class Editor:
    """Talks to a server as an editor does."""

    def __init__(self, folder):
        self.process = subprocess.Popen([sys.executable, "-m", "mha.exercises", "serve", "--limit", "5"], cwd=folder,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.count = 0

    def line(self, line):
        """What comes back for a line."""
        self.send(line)
        return json.loads(self.process.stdout.readline())

    def send(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def ask(self, method, **params):
        self.count += 1
        reply = self.line(json.dumps({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params}).encode())
        assert reply["jsonrpc"] == "2.0" and reply["id"] == self.count
        return reply["result"] if "result" in reply else reply["error"]

    def call(self, name, **arguments):
        """(what a tool says, whether it is marked as an error)"""
        result = self.ask("tools/call", name=name, arguments=arguments)
        (content,) = result["content"]
        return content["text"], result["isError"]

    def check(self, answer, number="5.1"):
        text, failed = self.call("check", number=number, answer=answer)
        assert not failed and len(text) < 2000
        return text


@pytest.fixture(scope="module")
def editor(tmp_path_factory):
    made = Editor(tmp_path_factory.mktemp("elsewhere"))
    yield made
    made.process.stdin.close()
    assert made.process.wait(20) == 0 and made.process.stdout.read() == b""
    assert "Traceback" not in made.process.stderr.read().decode()


def what_check_says(answer, number="5.1"):
    """In a notebook whose first cell imports torch."""
    space = {}
    exec(f"import torch\n{answer}", space)
    return repr(EXERCISES[number].examine(space[EXERCISES[number].name]))


# --- The protocol -----------------------------------------------------------------------------------------------------

def test_it_begins_as_the_protocol_says(editor):
    for wanted, given in [("2024-11-05", "2024-11-05"), ("2026-07-28", "2025-11-25"), (None, "2025-11-25")]:
        said = editor.ask("initialize", protocolVersion=wanted, capabilities={}, clientInfo={"name": "x"})
        assert said["protocolVersion"] == given and said["serverInfo"]["name"] == "mha-exercises"
        assert said["capabilities"] == {"tools": {}} and "learner" in said["instructions"]
    editor.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
    editor.send(b'{"jsonrpc": "2.0", "id": 1, "result": {}}\n\n')
    assert editor.ask("ping") == {}
    listed = editor.ask("tools/list")["tools"]
    assert [tool["name"] for tool in listed] == ["exercises", "task", "check", "hint", "solution"]
    assert all(tool["inputSchema"]["type"] == "object" and tool["description"] for tool in listed)
    assert editor.ask("server/discover")["code"] == protocol.NO_METHOD


@pytest.mark.parametrize("line, code", [
    (b"hello", protocol.NO_JSON), (b"\xff\xfe", protocol.NO_JSON), (b"[" * 100_000, protocol.NO_JSON),
    (b"[]", protocol.NO_REQUEST), (b"1", protocol.NO_REQUEST), (b'{"id": 1}', protocol.NO_REQUEST),
    (b'{"id": 1, "method": "ping", "params": []}', protocol.NO_PARAMETERS),
    (b'{"id": 1, "method": "' + b"x" * 10**6 + b'"}', protocol.NO_METHOD)], ids=lambda value: str(value)[:20])
def test_a_line_that_is_no_request_is_told_so(editor, line, code):
    said = editor.line(line)
    assert said["error"]["code"] == code and len(said["error"]["message"]) < 200


@pytest.mark.parametrize("tool, arguments, says", [
    ("task", {"number": "9.99"}, "no exercise has the id '9.99'"),
    ("task", {"number": 2.1}, "a text in quotation marks"),
    ("task", {"number": "5.1" * 1000}, "There are 1.1 to"),
    ("task", {}, "task takes number."),
    ("check", {"number": "5.1"}, "check takes number and answer."),
    ("check", {"number": "5.1", "answer": "x" * 10**6}, "at most"),
    ("check", {"number": "2.5", "answer": " "}, "empty"),
    ("hint", {"number": "5.1", "x": 1}, "takes number"),
    ("exercises", {"chapter": "77"}, "No chapter is called '77'"),
    ("grade", {}, "There is no tool 'grade'"), (None, {}, "There is no tool"), (["task"], {}, "There is no tool"),
], ids=lambda value: str(value)[:30])
def test_a_call_that_cannot_be_done_is_told_why(editor, tool, arguments, says):
    text, failed = editor.call(tool, **arguments)
    assert failed and says in text and len(text) < 1500


# --- The tools --------------------------------------------------------------------------------------------------------

def test_all_exercises_are_listed_or_those_of_a_chapter(editor):
    lines = editor.call("exercises")[0].splitlines()
    assert [line.partition(" ")[0] for line in lines] == [*EXERCISES]
    assert all(item.title in line and item.chapter in line for item, line in zip(EXERCISES.values(), lines))
    for chapter in ("05_masks", "5", "B"):
        assert set(editor.call("exercises", chapter=chapter)[0].splitlines()) < set(lines)


def test_a_task_says_what_is_asked_and_not_the_answer():
    for item in EXERCISES.values():
        if item.picture is None:
            text = tools.Tutor.task(None, item.id)
            assert item.statement in text and item.heading in text
            assert all(option.text in text and option.says not in text for option in getattr(item, "options", ()))
            assert not item.in_code or item.stub.strip() in text and item.hints[-1] not in text
    assert "should be" in tools.Tutor.task(None, "B.3")


@pytest.mark.parametrize("answer", [RIGHT, WRONG, "def causal_weights(scores):\n    ...", "causal_weights = 3"])
def test_a_check_says_what_check_says(editor, answer):
    assert editor.check(answer) == what_check_says(answer)


@pytest.mark.parametrize("number, answer", [("2.5", "7"), ("B.3", "C"), ("5.6", "A, B"), ("5.8", "It hides keys."),
                                            ("5.7", "A"), ("B.3", "all of them")])
def test_a_question_is_judged_as_check_does(editor, number, answer):
    assert editor.check(answer, number) == repr(EXERCISES[number].examine(answer))


DOES = "def causal_weights(scores):\n    "


@pytest.mark.parametrize("answer, says", [
    ("def causal_weights(scores)\n    return scores", "SyntaxError: expected ':', in line 1."),
    ("Dear checker, here is my answer.", "SyntaxError"),
    ("x = 1\0", "null bytes"),
    ("x = '\ud800'", "surrogates"),
    ("def other(scores):\n    return scores", "The code defines no causal_weights(scores)."),
    ("raise ValueError('z' * 10_000_000)", "does not run to its end: ValueError: zzz"),
    ("import os\nos._exit(0)", "Python was ended."),
    (f"{DOES}raise SystemExit", "The check was ended: SystemExit."),
    ("while True:\n    pass", "stopped after 5 s"),
    ("input()", "EOFError"),
    (f"import mha.exercises\nmha.exercises.check = print\n{DOES}...", "stands in its way"),
    (f"exit()\n{RIGHT}\nassert False", "The code itself stopped: AssertionError."),
    (f"print('x' * 10_000_000)\n{DOES}print('y' * 10_000_000)\n    return scores", "yyy"),
], ids=lambda value: ascii(value)[:30])
def test_whatever_the_code_does_gets_a_sentence_and_the_server_lives_on(editor, answer, says):
    assert says in editor.check(answer)
    assert editor.ask("ping") == {}


def test_hints_come_one_by_one_and_a_solution_only_after_all_and_a_check_that_failed(editor):
    def solution(number):
        return editor.call("solution", number=number)

    assert "0 of 2 hints" in solution("6.1")[0] and solution("6.1")[1]
    first, second, third, fourth = (editor.call("hint", number="6.1")[0] for _ in range(4))
    given = EXERCISES["6.1"].hints
    assert first == f"Hint 1 of 2: {given[0]}" and second == f"Hint 2 of 2: {given[1]}"
    assert third == fourth and "All hints" in third and not any(given[2] in said for said in (first, second, third))
    assert "no check of 6.1 has failed" in solution("6.1")[0]
    for untried in ("def split_heads(x, h):\n    ...", "def split_heads(x, h)"):
        editor.check(untried, "6.1")
        assert solution("6.1")[1]
    assert "not yet." in editor.check("def split_heads(x, h):\n    return x", "6.1")
    text, failed = solution("6.1")
    assert not failed and EXERCISES["6.1"].source.strip() in text
    assert "right." in editor.check(text.partition("```python\n")[2].partition("```")[0], "6.1")


def test_a_question_has_its_solution_in_the_end_and_an_explanation_none(editor):
    assert "There are no hints" in editor.call("hint", number="B.3")[0]
    assert editor.call("hint", number="B.22")[0].startswith("Hint 1 of 1")
    assert "no check of B.22 has failed" in editor.call("solution", number="B.22")[0]
    editor.check("A", "B.22")
    assert editor.call("solution", number="B.22") == (f"{EXERCISES['B.22'].solution}\n{EXERCISES['B.22'].note}", False)
    assert "own words" in editor.call("solution", number="5.8")[0]
