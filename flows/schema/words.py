"""The words that settings take."""

from enum import StrEnum


class Effort(StrEnum):
    """Reasoning effort. The model's preset says what is sent for each."""

    default = "default"  # nothing is sent: the provider decides, as the table says
    none = "none"
    minimal = "minimal"
    low = "low"
    medium = "medium"
    high = "high"
    max = "max"


class Writer(StrEnum):
    """What writes the briefs."""

    extractive = "extractive"  # sentences chosen from the packet; no model
    files = "files"  # briefs from a folder
    control = "control"  # the scenario's control of that name; for a task `oracle` is the expert's report
    empty = "empty"  # an empty text, or a valid report without text
    absent = "absent"  # submits no report
    corrupt = "corrupt"  # submits a report that can't be opened
    remote = "remote"  # a language model behind an endpoint


class Transport(StrEnum):
    """How a remote model is reached."""

    openai_http = "openai_http"  # the OpenAI chat protocol, spoken directly
    litellm = "litellm"  # everything else, through litellm
    gguf = "gguf"  # a GGUF file, served on this machine during the run


class JudgeKind(StrEnum):
    """What grades."""

    offline = "offline"  # the deterministic stand-in
    remote = "remote"  # a language model behind an endpoint
    panel = "panel"  # the majority of other judges


class JudgeMode(StrEnum):
    """What a judge is asked for in one call."""

    failed_only = "failed_only"  # the whole rubric; the reply lists failed items
    all_items = "all_items"  # the whole rubric; the reply has every item as true or false
    per_item = "per_item"  # one item per call


class JudgeHarness(StrEnum):
    """The form of a judge's call. Verdicts of two forms are never mixed."""

    single_call = "single_call"  # one request with everything, or one for each item
    agent = "agent"  # a loop of tool calls: the judge opens the reports itself


class Retry(StrEnum):
    """Which stored outcomes are retried."""

    none = "none"
    unparsed = "unparsed"  # judge questions with every reply rejected
    failed = "failed"  # also calls that ended without a reply
    partial = "partial"  # also texts that may be incomplete: they are paid for again
    refused = "refused"  # as `failed`, and refusals


class IntervalMethod(StrEnum):
    """How the interval of a mean over scenarios is computed, from six scenarios on."""

    t = "t"  # Student's t on scenario means
    bootstrap = "bootstrap"  # percentile bootstrap over scenarios, as in MA-Bench's paper


class Refusals(StrEnum):
    """How a brief that the writer refused is scored."""

    unscored = "unscored"  # no score; the bounds cover it
    zero = "zero"  # like an empty brief


class ProtocolName(StrEnum):
    """What a scenario is, what is written and how it is graded."""

    ma_bench = "ma_bench"  # a packet and a rubric; briefs as text
    mission_report = "mission_report"  # a task tree; reports as Word files, graded against the expert's


class Harness(StrEnum):
    """How a model is run. Results of two harnesses are never pooled."""

    single_prompt = "single_prompt"  # one prompt with the whole packet, one reply
    native = "native"  # our own tool loop in a scratch folder


class Engine(StrEnum):
    """Where the stages of a run are computed. Results do not depend on it."""

    process = "process"  # in the process of the command
    dask = "dask"  # on the workers of a Dask cluster


class ClusterKind(StrEnum):
    """Who starts the workers of a Dask cluster."""

    local = "local"  # this command: processes of this machine
    slurm = "slurm"  # dask-jobqueue
    kubernetes = "kubernetes"  # dask-kubernetes
    ssh = "ssh"  # dask.distributed, by asyncssh


class Clock(StrEnum):
    """What counts against a harness's limit of minutes."""

    wall = "wall"  # the model's calls and the tools
    calls = "calls"  # the model's calls only
