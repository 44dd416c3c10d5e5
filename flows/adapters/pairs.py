"""Labelled pairs of an item and a brief in `data/judge_pairs/`, for measuring judges."""

import json
from pathlib import Path

import yaml

from flows.common.errors import ScenarioError
from flows.schema.scenario import Item, Severity, Step, Tier


def load_pairs(folder: Path) -> list[tuple[str, Item, bool, str]]:
    """Return each pair as part (`tuned` or `held out`), item, label and brief.

    All pairs have the same step, tier and severity, so only the total and polarity are meaningful.

    Raises:
        ScenarioError: a file is missing or broken.
    """
    path = folder / "pairs.jsonl"
    try:
        held_out = set(yaml.safe_load((folder / "split.yaml").read_text(encoding="utf-8"))["held_out"])
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        return [
            (
                "held out" if row["brief_id"] in held_out else "tuned",
                Item(
                    item_id=row["id"],
                    step=Step.facts,
                    tier=Tier.stated,
                    severity=Severity.important,
                    requirement=row["criterion"],
                    ground_truth=row["ground_truth"],
                    pass_condition=row["pass_condition"],
                    fail_condition="Anything else.",
                    source=(),
                    rationale="",
                ),
                {"pass": True, "fail": False}[row["label"]],
                row["brief"],
            )
            for row in rows
        ]
    except OSError as error:
        raise ScenarioError(error.filename, f"can't be read ({error.strerror})", "labelled pairs") from error
    except (ValueError, KeyError, TypeError, yaml.YAMLError) as error:
        raise ScenarioError(path, f"not readable as labelled pairs ({error!r})") from error
