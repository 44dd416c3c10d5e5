#!/bin/bash
# Oracle: {what}. Harbor copies only this folder into the sandbox before the verifier
# starts, so the text is carried here, in base64.
set -euo pipefail

mkdir -p "$(dirname {output})"
base64 --decode > {output} << 'REPORT'
{text}
REPORT
