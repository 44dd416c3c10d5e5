"""What the two builders share: holding built files against the committed ones, and the command line."""

# pyright: basic, reportMissingImports=false
from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import yaml
from builders.markdown import SourceError


def differing(where: str, files: Mapping[str, bytes], committed: Mapping[str, bytes]) -> list[str]:
    """One line for each file below `where` that is missing, differs from its source, or has none."""
    found: list[str] = []
    for name in sorted(files.keys() | committed.keys()):
        if files.get(name) != committed.get(name):
            gone, sourceless = name not in committed, name not in files
            what = "missing" if gone else "has no source" if sourceless else "differs from its source"
            found.append(f"{where}/{name}: {what}")
    return found


def run(
    description: str,
    tasks: Sequence[str],
    sources: Path,
    *,
    build: Callable[[str], dict[str, bytes]],
    write: Callable[[str, dict[str, bytes]], None],
    differences: Callable[[str, dict[str, bytes]], list[str]],
    done: str,
) -> int:
    """Build or check; 1 where a check found differences or a source is faulty.

    Args:
        description: of the command.
        tasks: ids of all tasks, of which the command line may name some.
        sources: folder of the sources, by task.
        build: the files of a task, by name.
        write: puts them where they belong.
        differences: holds them against those that are there.
        done: what is said of a task whose files match.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where files differ")
    parser.add_argument("tasks", nargs="*", metavar="TASK_ID")
    arguments = parser.parse_args()
    found = 0
    for task_id in arguments.tasks or tasks:
        try:
            files = build(task_id)
            if not arguments.check:
                write(task_id, files)
            problems = differences(task_id, files)
        except (SourceError, OSError) as error:
            problems = [str(error)]
        except (yaml.YAMLError, KeyError, TypeError, ValueError) as error:
            problems = [f"{sources / task_id}: {type(error).__name__}: {error}"]
        print("\n".join(problems) if problems else f"{task_id}: {done}")
        found += len(problems)
    return 1 if found else 0
