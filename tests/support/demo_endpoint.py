"""An endpoint to try resuming on: a writer and a judge that answer after two seconds and know nothing.

    python -m tests.support.demo_endpoint [--port 8399]

The writer repeats the packet's beginning, the judge fails every third item. Ctrl-C ends it.
"""

import argparse
import json
import logging
import re
import socket
import time

from tests.support.scripted_server import Call, Say, ScriptedServer

PORT = 8399
DELAY_S = 2.0
ITEM = re.compile(r'<item id="([^"]+)" kind="(\w+)">')
WORDS = 1500


def answer(call: Call) -> Say:
    if "judge" in call.body["model"]:
        items = ITEM.findall(call.prompt)
        if '"verdicts"' in call.prompt:  # judge.mode=all_items or per_item
            verdicts = [
                {
                    "id": name,
                    "met": (kind == "error") != bool(place % 3),
                    "reason": "every third",
                }
                for place, (name, kind) in enumerate(items)
            ]
            return Say(json.dumps({"verdicts": verdicts}), delay_s=DELAY_S)
        failed = [
            {"id": name, "mode": "committed" if kind == "error" else "omission", "reason": "every third"}
            for name, kind in items[::3]
        ]
        return Say(json.dumps({"items": len(items), "failed": failed}), delay_s=DELAY_S)
    packet = call.prompt.partition("<packet>")[2]
    return Say(" ".join(packet.split()[:WORDS]) + f" [seed {call.body['seed']}]", delay_s=DELAY_S)


def main() -> None:
    logging.getLogger("aiohttp").setLevel(logging.CRITICAL)  # a killed client is the point of it
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, default=PORT, help="default: %(default)s")
    port = parser.parse_args().port
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            raise SystemExit(f"port {port} is in use; end what holds it, or name another one by --port")
    with ScriptedServer(answer, port=port) as server:
        print(f"endpoint on {server.base}", flush=True)  # noqa: T201 -- it talks to a person
        try:
            while True:
                time.sleep(1)
        except KeyboardInterrupt:
            print(f"{len(server.billed)} answers given")  # noqa: T201 -- the same


if __name__ == "__main__":
    main()
