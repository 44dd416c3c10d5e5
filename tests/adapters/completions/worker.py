"""A run in a process of its own, to be killed: asks for prompts, and says so when one is answered.

python -m tests.adapters.completions.worker FOLDER BASE PREFIX COUNT [LEASE_S]
"""

import asyncio
import sys

from tests.adapters.completions.helpers import ASKED, a_client, a_model, a_request


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
