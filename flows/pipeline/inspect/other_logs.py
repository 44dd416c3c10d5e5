"""Reading logs that anybody may have written, and the outputs of other tasks' logs as briefs."""

import zipfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from inspect_ai.log import EvalSample, read_eval_log_sample, read_eval_log_sample_summaries

from flows.adapters.screen import Screen
from flows.common.digests import canonical_json, sha256_text
from flows.common.errors import ConfigError, StaffbenchError, StoreError
from flows.common.files import write_whole
from flows.common.text import plural
from flows.pipeline.work.evaluations import kind_of
from flows.schema.condition import file_name
from flows.schema.settings import Settings

MAX_LOG_BYTES = 4 << 30
"""Unpacked size of a log: more than 10,000 attempts with their trajectories."""
MAX_SAMPLE_BYTES = 256 << 20


@contextmanager
def readable(path: Path) -> Generator[None]:
    """Refuse a log that is too large or that its reader fails on; readers raise what they like.

    Raises:
        StoreError: what happened.
    """
    try:
        sizes = [path.stat().st_size]
        if path.suffix.lower() == ".eval":
            sizes = [one.file_size for one in zipfile.ZipFile(path).infolist()]
        if sum(sizes) > MAX_LOG_BYTES or max(sizes) > MAX_SAMPLE_BYTES:
            raise ValueError(f"{sum(sizes):,} bytes: too large")  # noqa: TRY301 -- handled as the reader's
        yield
    except StaffbenchError:
        raise
    except Exception as error:
        said = " ".join(str(error).split())[:200]
        raise StoreError(path, f"not readable as a log ({type(error).__name__}: {said})") from error


def samples_of(path: Path) -> Iterator[EvalSample]:
    """Read one sample after another, each with its attachments and without what nothing here uses."""
    unread = {"events", "timelines", "events_data"}
    for one in read_eval_log_sample_summaries(str(path)):
        yield read_eval_log_sample(
            str(path), one.id, one.epoch, resolve_attachments="full", exclude_fields=unread
        )


def write_briefs(
    project: Path, settings: Settings, path: Path, screen: Screen, *, ids: Mapping[str, str], key: str | None
) -> Path:
    """Write the outputs of another task as a table of briefs; return its path.

    The scenario of a sample is that of its id in `ids`, else what its metadata hold under `key`, else its id.

    Raises:
        ConfigError: no sample is of a scenario, or two are of one brief.
    """
    known = kind_of(settings.benchmark).scenario_ids(project, settings.benchmark, None)
    texts: dict[tuple[str, int], str] = {}
    unknown: list[str] = []
    with readable(path):
        for one in samples_of(path):
            name = ids.get(str(one.id), str(one.metadata.get(key) if key else one.id))
            if (name, one.epoch) in texts:
                raise ConfigError(path, f"two samples are {name}, epoch {one.epoch}", "one")
            if name not in known:
                unknown.append(str(one.id))
            elif one.error is None and one.output.choices and one.output.stop_reason != "content_filter":
                texts[name, one.epoch] = one.output.completion
    shown = ", ".join(sorted({*unknown})[:5])
    if not texts:
        remedy = "map ids by --map ID=SCENARIO, or name the metadata that holds them by --key"
        raise ConfigError(path, f"no output of a scenario ({shown})", "one of " + ", ".join(known), remedy)
    if unknown:
        screen.note(f"{path.name}: left out {plural(len(unknown), 'sample')} of no scenario ({shown})")
    rows = [{"scenario": name, "seed": seed, "text": text} for (name, seed), text in sorted(texts.items())]
    content = "".join(canonical_json(row) + "\n" for row in rows)
    table = project / settings.results / "imported" / f"{file_name([path.stem], sha256_text(content))}.jsonl"
    write_whole(table, content)
    return table
