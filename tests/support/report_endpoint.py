"""A writer of reports with tools, and a judge of them, behind an endpoint."""

import json
import re

from tests.support.scripted_server import Call, Say, ScriptedServer

CRITERION = re.compile(r'<criterion id="([^"]+)" kind="(\w+)">')
COUNTED = {"prompt_tokens": 100, "completion_tokens": 10}


def text_of(call: Call):
    """Text of the last message, also where pictures stand beside it."""
    content = call.body["messages"][-1]["content"]
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part["type"] == "text")


def is_judge(call: Call):
    return call.body["model"].startswith("judge")


def calls(*wanted):
    """A reply that calls tools: (name, arguments) each, streamed or not."""
    listed = [
        {
            "index": number,
            "id": f"c{number}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
            },
        }
        for number, (name, arguments) in enumerate(wanted)
    ]
    return Say(None, finish="tool_calls", message={"tool_calls": listed}, usage=COUNTED)


def writes(text):
    """Turns of a writer that fills the form with a text."""
    return (
        calls(("list_files", {}), ("read_file", {"path": "attachments/notes.txt"})),
        calls(("start_report", {"template": "attachments/form.docx"})),
        calls(("fill", {"entries": [{"place": "p1", "text": text}]})),
        calls(("delete", {"places": ["p2"]})),
        Say("The report is written.", usage=COUNTED),
    )


def route_of(call: Call):
    """The route that a task is about."""
    return re.search(r"Route (?:Amber|Birch)", json.dumps(call.body["messages"]))[0]


def turn(call: Call, turns):
    """The turn of a script that is due: told by the turns that the call brings."""
    said = sum(message["role"] == "assistant" for message in call.body["messages"])
    return turns[min(said, len(turns) - 1)]


def verdicts(call: Call, *failed):
    """A judge's reply that fails these criteria, in the form that is asked for."""
    text = text_of(call)
    kinds = dict(CRITERION.findall(text))
    if '{"verdicts": [' in text:
        return Say(json.dumps(decided(kinds, failed)), usage=COUNTED)
    modes = {"requirement": "omission", "error": "committed"}
    listed = [{"id": each, "mode": modes[kinds[each]], "reason": f"{each} fails"} for each in failed]
    return Say(json.dumps({"items": len(kinds), "failed": listed}), usage=COUNTED)


def decided(kinds, failed):
    """Every criterion as true or false: an error that fails is one that is met."""

    def entry(name, kind):
        met = (name in failed) == (kind == "error")
        return {"id": name, "met": met, "reason": f"{name} {'fails' if name in failed else 'holds'}"}

    return {"verdicts": [entry(name, kind) for name, kind in kinds.items()]}


def decides(call: Call, *failed):
    """The next turn of a judge with tools: it lists, reads both reports, and decides as `verdicts` does."""
    asked = call.body["messages"][1]["content"]
    kinds = dict(CRITERION.findall(asked))
    return turn(
        call,
        (
            calls(("list_files", {})),
            calls(("read_file", {"path": "report.docx"}), ("read_file", {"path": "expert_report.docx"})),
            calls(("decide", decided(kinds, failed))),
        ),
    )


def answer(call: Call):
    """A writer that says what is closed and no more, and a judge that finds the second criterion missed."""
    if is_judge(call):
        return verdicts(call, "C2")
    return turn(call, writes(f"{route_of(call)} is closed until 21 May. Attempt {call.body['seed']}."))


def reports(server: ScriptedServer, *more):
    """Overrides for a writer of reports and a judge behind `server`."""
    return [
        "benchmark=mission_report",
        "model=openai_compatible",
        "model.name=writer-1",
        f"model.api_base={server.base}",
        *judged(server),
        *more,
    ]


def judged(server: ScriptedServer, *more):
    """Overrides for a judge behind `server`, whoever writes."""
    return [
        "judge=openai_compatible",
        "judge.name=judge-1",
        f"judge.api_base={server.base}",
        "judge.harness=single_call",
        "runner.backoff_s=0.05",
        "runner.backoff_max_s=0.1",
        "tracking=none",
        *more,
    ]
