#!/bin/bash
# Verifier: format check, judge and reward by the rubric in fixtures/. Writes no reward where judging fails.
# Where staffbench is installed it judges, pages included; else agent_judge.py does, by the text alone.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"

if command -v staffbench > /dev/null; then
  exec staffbench harbor verify {output} --task "$here"
fi
# Nothing that an agent left in its environment (-E) or home (-s) is imported; nothing is compiled (-B).
exec python3 -B -E -s "$here/agent_judge.py" {output}
