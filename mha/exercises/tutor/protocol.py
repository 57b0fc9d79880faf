"""MCP, the Model Context Protocol, over stdin and stdout: one JSON-RPC message a line. An editor starts this process.

It speaks the revisions that begin with `initialize`, and of those what a server of tools needs: initialize, ping,
tools/list, tools/call. A client of the later revisions asks for server/discover, is told that there is no such method,
and falls back.
"""
import json
import os
import sys

import mha
from mha.exercises.engine.calls import Caught
from mha.exercises.classroom.replay import one_line
from mha.exercises.tutor import tools

REVISIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
LONGEST = 50_000                            # characters of a reply
NO_JSON, NO_REQUEST, NO_METHOD, NO_PARAMETERS = -32700, -32600, -32601, -32602      # of JSON-RPC


def serve(limit):
    """Answer until stdin ends; the exit status."""
    if sys.stdin.isatty():
        print("An editor starts this and talks to it in JSON (MCP over stdio). Ctrl-C ends it.", file=sys.stderr)
    asked, answers = alone_with_the_client()
    tutor = tools.Tutor(limit)
    try:
        for line in asked:
            reply = answered(tutor, line)
            if reply is not None:
                answers.write(json.dumps({"jsonrpc": "2.0", **reply}) + "\n")
                answers.flush()
    except (KeyboardInterrupt, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_RDWR), answers.fileno())       # what is left to write is for nobody
    return 0


def alone_with_the_client():
    """(lines that the client writes, where it reads), which no other code and no process begun here can reach."""
    asked, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)                           # what anything prints goes where an editor keeps its log
    return asked, answers


def answered(tutor, line):
    """What a message is answered, without the version; None where it wants no answer."""
    if not line.strip():
        return None
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return error(None, NO_JSON, "This line is no JSON.")
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        is_reply = isinstance(message, dict) and ("result" in message or "error" in message)
        return None if is_reply else error(None, NO_REQUEST, "A request is an object with a method.")
    if "id" not in message:
        return None
    id, parameters = message["id"], message.get("params")
    parameters = {} if parameters is None else parameters
    if not isinstance(parameters, dict):
        return error(id, NO_PARAMETERS, "params should be an object.")
    if message["method"] not in METHODS:
        return error(id, NO_METHOD, f"There is no method {message['method'][:80]}.")
    return {"id": id, "result": METHODS[message["method"]](tutor, parameters)}


def error(id, code, says):
    return {"id": id, "error": {"code": code, "message": says}}


def initialize(tutor, parameters):
    wanted = parameters.get("protocolVersion")
    return {"protocolVersion": wanted if wanted in REVISIONS else REVISIONS[0], "capabilities": {"tools": {}},
            "serverInfo": {"name": "mha-exercises", "version": mha.__version__}, "instructions": tools.INSTRUCTIONS}


def call(tutor, parameters):
    """What a tool says; what it cannot do is said too, and marked."""
    with Caught() as caught:
        name = parameters.get("name")
        given = tools.fitting(name, parameters.get("arguments"))
        return said(getattr(tutor, name)(**given))
    failure = caught.failure
    return said(str(failure) if isinstance(failure, tools.Refused) else f"This could not be done: {one_line(failure)}",
                failed=True)


def said(text, failed=False):
    """A result of plain text. Half characters, which no JSON carries, are escaped."""
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}\n... ({len(text) - LONGEST} more characters)"
    return {"content": [{"type": "text", "text": text}], "isError": failed}


METHODS = {"initialize": initialize, "ping": lambda tutor, parameters: {}, "tools/call": call,
           "tools/list": lambda tutor, parameters: {"tools": tools.described()}}
