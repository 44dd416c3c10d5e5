#!/bin/bash
# Verifier: format check, judge and reward by the rubric in fixtures/. Writes no reward where judging fails.
# Where staffbench is installed it judges, pages included; else agent_judge.py does, by the text alone.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"

if command -v staffbench > /dev/null; then
  exec staffbench harbor verify /app/outputs/report.docx --task "$here"
fi
# -E and -s: nothing that an agent left in its environment or home is imported.
exec python3 -E -s "$here/agent_judge.py" /app/outputs/report.docx
