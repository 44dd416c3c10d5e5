"""A run in a process of its own, to be killed: asks for prompts, and says so when one is answered.

python -m tests.adapters.completions.worker FOLDER BASE PREFIX COUNT [LEASE_S]
"""

import asyncio
import subprocess
import sys
from contextlib import contextmanager

from tests.adapters.completions.helpers import ASKED, a_client, a_model, a_request


@contextmanager
def a_worker(place, server, count, lease_s=30):
    """A process that asks for `count` prompts; it is killed in the end if it still runs."""
    command = [sys.executable, "-m", "tests.adapters.completions.worker", str(place), server.base, "prompt"]
    command += [str(count), str(lease_s)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def finished(process):
    """What a worker that ended well said: [how, number, text] each."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return [line.split(" ", 2) for line in out.splitlines()]


async def main(folder, base, prefix, count, lease_s="30"):
    async with a_client(folder, lease_s=float(lease_s)) as client:

        async def ask(number):
            outcome = await client.complete(a_request(f"{prefix} {number}", base), a_model(base), ASKED)
            how = "replayed" if outcome.replayed else "paid"
            # In one piece: a kill must not fall between the parts of a line.
            sys.stdout.write(f"{how} {number} {outcome.completion.text}\n")
            sys.stdout.flush()

        await asyncio.gather(*(ask(number) for number in range(int(count))))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
