"""The presets of models and judges, held against what litellm makes of them. No network but loopback.

Every effort that a preset lists is sent, and must arrive as it was written: not dropped, and not as
another one.
"""

import importlib.metadata
import json
import re
from dataclasses import fields, replace
from datetime import date
from pathlib import Path

import pytest

from flows.adapters.completions.faults import Fault, FaultKind
from flows.adapters.config.compose import compose_points
from flows.adapters.config.described import options
from flows.schema import settings as schema
from flows.schema.completion import Image, Message
from flows.schema.scenario import Evidence, Item, Severity, Step, Tier
from flows.schema.settings import Effort, JudgeKind, Transport, Writer
from flows.stages.judge import build_requests
from tests.support.preset_endpoint import Endpoint, effort_in, limit_in, request_of

# litellm's own use of pydantic warns, and litellm turns a warning that is an error into a broken reply.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Items? '.*' on TypedDict class:UserWarning"),
    pytest.mark.filterwarnings("ignore:Accessing the '.*' attribute on the instance:DeprecationWarning"),
]

PROJECT = Path(__file__).parents[1]
CONF = PROJECT / "conf"
MODELS = options(PROJECT)["model"]
JUDGES = options(PROJECT)["judge"]

# Presets that need a name: one of a model that reasons.
EXAMPLES = {
    "anthropic": "anthropic/claude-opus-5-5",
    "azure": "azure/gpt5_series/ours",
    "bedrock": "bedrock/us.amazon.nova-2-lite-v1:0",
    "deepseek": "deepseek/deepseek-v4-pro",
    "google": "gemini/gemini-4-argon",
    "hosted": "openai/gpt-6.1-sol",
    "meta": "meta/muse-spark-1.3",
    "mistral": "mistral/mistral-large-4",
    "openai": "openai/gpt-6.1-sol",
    "openrouter": "openrouter/openai/gpt-6-sol",
    "qwen": "dashscope/qwen3.8-max",
    "xai": "xai/grok-4.7",
}
# Presets for any endpoint: what it takes is for whoever names it to know.
ANY = ("litellm", "openai_compatible")
REPORTS_ONLY = ("absent", "corrupt")  # they hand in a file, or none
SERVERS = ("local_server", "vllm", "ollama", "llama_cpp", "local_gguf")
NAMED = [name for name in MODELS if name not in {*EXAMPLES, *ANY, *SERVERS}]


def override(axis, name):
    """What composes the preset, with what it can't do without."""
    found = [f"{axis}={name}"]
    if name not in NAMED and name not in ("offline", "panel"):  # which are asked nothing themselves
        found.append(f"{axis}.name={EXAMPLES.get(name, 'some/model')}")
    if name in ("local_server", "openai_compatible", "local_gguf"):
        found.append(f"{axis}.api_base=http://127.0.0.1:1/v1")
    return found


@pytest.fixture(scope="module")
def presets():
    """Every model and every judge by name; a judge is composed along with a model, which saves half."""
    models, judges = {}, {}
    for number, name in enumerate(MODELS):
        judge = JUDGES[number % len(JUDGES)]
        reports = ["benchmark=mission_report"] if name in REPORTS_ONLY else []
        chosen = [*reports, *override("model", name), *override("judge", judge)]
        point = compose_points(PROJECT, chosen, multirun=False)[0]
        models[name], judges[judge] = point.settings.model, point.settings.judge
    assert set(judges) == set(JUDGES)
    return models, judges


@pytest.fixture(scope="module")
def endpoint():
    with pytest.MonkeyPatch.context() as environment:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            environment.setenv(name, "of-nobody")
        environment.setenv("AWS_REGION_NAME", "us-east-1")
        environment.setenv("AZURE_API_VERSION", "2025-04-01-preview")
        server = Endpoint()
        yield server
        server.close()


def by_litellm(models):
    return {
        name: model
        for name, model in models.items()
        if model.writer is Writer.remote and model.transport is Transport.litellm and name not in ANY
    }


def test_the_providers_that_were_asked_for_are_there():
    asked = {"anthropic", "openai", "google", "xai", "mistral", "deepseek", "qwen", "meta"}
    asked |= {"bedrock", "azure", "openrouter", "ollama", "vllm", "llama_cpp", "openai_compatible"}
    assert asked <= set(options(PROJECT)["model"])


def test_every_preset_composes_and_has_what_its_benchmark_condition_needs(presets):
    models, judges = presets
    for name, model in {**models, **judges}.items():
        assert set(model.efforts) <= {effort.value for effort in Effort}, name
        assert model.efforts["default"] == {}, name
        assert model.benchmark_effort.value in model.efforts, name
        if "medium" in model.efforts:
            assert model.benchmark_effort is Effort.medium, name
    for name, judge in judges.items():
        assert judge.effort.value in judge.efforts, name
        assert judge.allow_self is False, name


def test_every_effort_arrives_as_written_and_default_sends_none(presets, endpoint):
    models = by_litellm(presets[0])
    assert len(models) == len(EXAMPLES) + 26
    wrong = []
    for name, model in models.items():
        for effort, sent in model.efforts.items():
            body = endpoint.arrived(request_of(model, Effort(effort)))
            if isinstance(body, Fault):
                wrong.append(f"{name} {effort}: not sent, {body.detail}")
            elif effort_in(body) != sent.get("reasoning_effort") or limit_in(body) != [5000]:
                wrong.append(f"{name} {effort}: {body}")
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "asked", "arrives"),
    [
        ("claude_opus_5_5", "none", None),
        ("claude_opus_5_5", "minimal", "low"),
        ("gemini_4_argon", "none", "low"),
        ("gemini_4_argon", "minimal", "low"),
        ("gemini_3_5_flash_lite", "none", "minimal"),
        ("mistral_large_4", "medium", "high"),
        ("openrouter", "max", "xhigh"),
    ],
)
def test_what_litellm_would_drop_or_replace_is_not_offered(presets, endpoint, name, asked, arrives):
    model = presets[0][name]
    assert asked not in model.efforts
    body = endpoint.arrived(request_of(model, Effort.default, reasoning_effort=asked))
    assert effort_in(body) == arrives


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("claude_sonnet_5_5", {"temperature": 0}),
        ("claude_sonnet_5_5", {"seed": 1}),
        ("gpt_6_1_sol", {"temperature": 0}),
        ("gpt_6_1_sol", {"reasoning_effort": "none"}),
        ("gpt_6_luna", {"reasoning_effort": "minimal"}),
        ("gemini_3_8_flash", {"reasoning_effort": "max"}),
        ("gemini_4_hydrogen", {"reasoning_effort": "max"}),
        ("bedrock", {"reasoning_effort": "none"}),
    ],
)
def test_what_a_preset_says_is_refused_is_refused_before_it_is_sent(presets, endpoint, name, refused):
    effort = Effort.default if "reasoning_effort" in refused else Effort.medium
    fault = endpoint.arrived(request_of(presets[0][name], effort, **refused))
    assert isinstance(fault, Fault)
    assert fault.kind is FaultKind.parameter


def test_a_judge_that_takes_a_schema_is_sent_it(presets, endpoint):
    item = Item(
        item_id="A-1",
        step=Step.risk,
        tier=Tier.stated,
        severity=Severity.important,
        requirement="States the risk.",
        ground_truth="The bridge may fail.",
        pass_condition="Names the bridge.",
        fail_condition="Does not.",
        source=(Evidence("01.md", "the bridge"),),
        rationale="It is the only one.",
    )
    prompt = schema.JudgePromptSettings("v0", "Grade.", "{{items}} {{brief}}", "", "", "")
    takers = {name: judge for name, judge in presets[1].items() if judge.structured_output}
    assert sorted(takers) == ["claude_opus_5_5", "gemini_4_argon", "gpt_6_1_sol", "gpt_6_luna"]
    for name, judge in takers.items():
        call = build_requests([item], "a brief", judge, prompt, 1)[0]
        wanted = call.request.parameters["response_format"]["json_schema"]["schema"]
        body = endpoint.arrived(call.request)
        schemas = [
            body.get("response_format", {}).get("json_schema", {}).get("schema"),
            body.get("output_format", {}).get("schema"),
            body.get("generationConfig", {}).get("response_json_schema"),
        ]
        assert wanted in schemas, name
        assert limit_in(body) == [60 + 16_000 + 256], name


def test_what_a_preset_says_it_takes_arrives(presets, endpoint):
    tool = {"type": "function", "function": {"name": "list_files", "parameters": {"type": "object"}}}
    shown = Message("user", "hello", images=(Image("image/png", b"a page"),))
    missing = []
    for name, model in by_litellm(presets[0]).items():
        request = request_of(model, Effort.default, tools=[tool])
        if model.takes_images:
            request = replace(request, messages=(shown,))
        body = endpoint.arrived(request)
        text = str(body.detail if isinstance(body, Fault) else json.dumps(body))
        if "list_files" not in text or ("YSBwYWdl" in text) != model.takes_images:  # its bytes in base64
            missing.append(f"{name}: {text[:300]}")
    assert missing == []
    assert sum(model.takes_images for model in presets[0].values()) > 20


def test_openrouter_is_told_to_use_no_host_that_ignores_a_field(presets, endpoint):
    body = endpoint.arrived(request_of(presets[0]["openrouter"], Effort.high))
    assert body["provider"] == {"require_parameters": True}


def test_prices_are_complete_and_dated_or_null(presets):
    models, judges = presets
    for name, model in {**models, **judges}.items():
        price = model.price
        assert (price.input_usd is None) == (price.output_usd is None), name
        if price.input_usd is None or (price.input_usd, price.output_usd) == (0, 0):
            assert price.taken is None, name  # nothing was read anywhere
        else:
            assert price.input_usd > 0, name
            assert price.output_usd >= price.input_usd, name
            assert date(2026, 1, 1) < date.fromisoformat(price.taken) <= date.today(), name  # noqa: DTZ011 -- a day is a day
        for tokens in (model.context_tokens, model.output_tokens):
            assert tokens is None or tokens > 0, name


def test_limits_and_prices_are_those_of_the_table_that_the_files_name(presets):
    version = importlib.metadata.version("litellm")
    text = (CONF / "model" / "hosted.yaml").read_text()
    if f"litellm {version}" not in text:
        pytest.skip(f"litellm {version} is installed, and the presets were taken from another version")
    found = importlib.metadata.files("litellm")
    path = next(file for file in found if file.name == "model_prices_and_context_window_backup.json")
    table = json.loads(Path(path.locate()).read_text())
    named = {name: model for name, model in by_litellm(presets[0]).items() if name in NAMED}
    assert len(named) == 26
    for name, model in named.items():
        entry = table.get(model.name) or table[model.name.split("/", 1)[1]]
        assert model.price.input_usd == pytest.approx(entry["input_cost_per_token"] * 1e6), name
        assert model.price.output_usd == pytest.approx(entry["output_cost_per_token"] * 1e6), name
        tiers = [key for key in entry if re.fullmatch(r"input_cost_per_token_above_\d+k_tokens", key)]
        assert (model.price.above_tokens is not None) == bool(tiers), name
        for key in tiers:
            assert model.price.above_tokens == int(re.search(r"\d+", key)[0]) * 1000, name
            dearer = entry[key] * 1e6, entry[key.replace("input", "output")] * 1e6
            assert model.price.rates(model.price.above_tokens + 1) == pytest.approx(dearer), name
        assert model.context_tokens == entry["max_input_tokens"], name
        limit = entry["max_output_tokens"]
        assert model.output_tokens == (limit if limit < entry["max_input_tokens"] else None), name
        assert entry.get("deprecation_date", "9999") > model.price.taken, name
        assert model.takes_images == entry["supports_vision"], name
        assert model.takes_tools == entry["supports_function_calling"], name


def test_labels_and_names_are_unique_and_limits_are_shared_by_provider(presets):
    models = presets[0]
    labels = [models[name].label for name in NAMED]
    assert len(set(labels)) == len(labels)
    names = [models[name].name for name in NAMED if models[name].name]
    assert len(set(names)) == len(names)
    shared = {}
    for name, model in by_litellm(models).items():
        if name in NAMED:
            shared.setdefault(model.provider, set()).add(model.name.split("/")[0])
    assert shared == {
        "anthropic": {"anthropic"},
        "deepseek": {"deepseek"},
        "google": {"gemini"},
        "meta": {"meta"},
        "mistral": {"mistral"},
        "openai": {"openai"},
        "qwen": {"dashscope"},
        "xai": {"xai"},
    }


def test_a_judge_is_the_model_of_its_name(presets):
    models, judges = presets
    asked = {field.name for field in fields(schema.JudgeSettings)} - {
        field.name for field in fields(schema.ModelSettings)
    }
    for name, judge in judges.items():
        if judge.kind is JudgeKind.remote:
            model = models[name]
            same = {field.name: getattr(judge, field.name) for field in fields(model)}
            assert same == {field.name: getattr(model, field.name) for field in fields(model)}, name
    assert {"kind", "effort", "mode"} <= asked
