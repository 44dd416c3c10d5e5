"""Python in a process of its own, in the project's folder."""

import subprocess
import sys


def run_script(script, *arguments, project, environment):
    """What the script prints, as lines; it has to end well, within two minutes."""
    done = subprocess.run(
        [sys.executable, "-c", script, *(str(word) for word in arguments)],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
