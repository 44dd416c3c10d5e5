#!/bin/bash
# Verifier: format check, judge and reward by the rubric in fixtures/. Writes no reward where judging fails.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"

if ! command -v staffbench > /dev/null; then
  echo "staffbench is not installed in this sandbox, so the report can't be judged. Export the task with" \
    "--install, or say in environment/Dockerfile what pip should install." >&2
  exit 1
fi

exec staffbench harbor verify {output} --task "$here"
