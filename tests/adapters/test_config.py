"""What composes, what is refused, and which name is offered instead."""

import shlex

import pytest

from flows.adapters.config.compose import compose_points
from flows.schema.condition import judge_of
from flows.schema.settings import Effort
from tests.adapters.config_support import (
    REMOTE,
    one,
    refusal,
)


def test_the_default_point_is_the_published_condition(project):
    settings = one(project).settings
    assert settings.word_cap.words == 3000
    assert settings.seeds == 3
    assert settings.scoring.weights["critically_important"] == 9
    assert settings.scoring.weights["critically_detrimental"] == -9
    assert sorted(settings.scoring.assumed) == ["detrimental", "important", "slightly_important"]


@pytest.mark.parametrize(("key", "judge"), [(None, "offline"), ("", "offline"), ("x", "claude-opus-5-5")])
def test_the_published_condition_of_reports(project, monkeypatch, key, judge):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    if key is not None:
        monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    point = one(project, "benchmark=mission_report", *REMOTE)
    settings = point.settings
    assert (settings.effort.level, settings.seeds) == (Effort.default, 3)
    assert (settings.harness.max_minutes, settings.harness.clock) == (60, "wall")
    assert settings.judge.label == judge
    assert (settings.judge.mode, settings.judge.harness) == ("all_items", "agent")
    found = judge_of(settings, point.changed)
    if judge == "offline":
        assert (found.label, found.harness) == ("offline", None)
    else:
        assert settings.judge.effort is Effort.medium
        assert found.label == "claude-opus-5-5-medium-all_items-agent-report_v1"
    named = one(project, "benchmark=mission_report", "judge=gpt_6_luna").settings.judge
    assert (named.label, named.harness) == ("gpt-6-luna", "agent")
    assert one(project, "judge=gpt_6_luna").settings.judge.harness == "single_call"


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["judge=gpt_6_luna", "judge.harness=agent"], "a brief is no file to open; expected single_call"),
        (
            ["benchmark=mission_report", "judge=gpt_6_luna", "runner.batch=true"],
            "an agent is a chain of calls",
        ),
        (
            ["benchmark=mission_report", "judge=gpt_6_luna", "judge_prompt.agent=''"],
            "has no text for an agent",
        ),
        (["benchmark=mission_report", "judge=gpt_6_luna", "judge.max_steps=0"], "judge.max_steps: 0"),
        (["benchmark=mission_report", "harness.clock=null"], "harness.clock: null; expected wall or calls"),
        (["benchmark=mission_report", "harness.clock=sun"], "harness.clock"),
    ],
)
def test_what_does_not_fit_an_agent_or_its_clock_is_refused(project, overrides, said):
    assert said in refusal(project, *overrides)


def test_a_real_model_is_asked_for_medium_effort_and_the_baseline_for_none(project):
    assert one(project, *REMOTE).settings.effort.level is Effort.medium
    assert one(project, "model=extractive").settings.effort.level is Effort.default


@pytest.mark.parametrize(
    ("override", "words"), [("word_cap=500", 500), ("word_cap=none", None), ("word_cap=712", 712)]
)
def test_any_word_cap(project, override, words):
    assert one(project, override).settings.word_cap.words == words


@pytest.mark.parametrize(
    ("override", "offered"),
    [
        ("model=extractve", "extractive"),
        ("modle=extractive", "model"),
        ("word_cap.word=3", "word_cap.words"),
        ("effort=hihg", "high"),
        ("judge=ofline", "offline"),
        ("+model.strem=true", "model.stream"),
        ("seed=3", "seeds"),
    ],
)
def test_a_misspelt_word_is_refused_and_the_nearest_one_named(project, override, offered):
    message = refusal(project, override)
    assert override.split("=")[0].lstrip("+") in message
    assert offered in message


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["seeds=three"], "seeds"),
        (["seeds=true"], "seeds"),
        (["word_cap.words=1.5"], "word_cap.words"),
        (["effort.level=hig"], "high"),
        (["seeds=0"], "more than 0"),
        (["word_cap.words=-5"], "more than 0"),
        (["budget.max_usd=-1"], "0 or more"),
        (["runner.batch_wait_s=-1"], "0 or more"),
        (["runner.batch_poll_s=0"], "more than 0"),
        (["runner.batch_max_requests=0"], "more than 0"),
        (["model=gpt_6_luna", "model.price.input_usd=-1"], "0 or more"),
        (["model=gpt_6_luna", "model.output_tokens=-1"], "more than 0"),
        (["model=gpt_6_luna", "model.context_tokens=0"], "more than 0"),
        (["model.label="], "a name"),
        (["tracking.experiment="], "a name"),
        (["scoring.interval_level=95"], "between 0 and 1"),
        (["benchmark.scenarios=[]"], "empty list"),
        (["model=openai_compatible"], "model.name"),
        (["model=openai_compatible", "model.name=a"], "model.api_base"),
        (["effort=high"], "extractive does not take it"),
        (["model=strong,weak"], "-m"),
        (["what is this"], "what is this"),
    ],
)
def test_what_no_run_can_use_is_refused_before_anything_runs(project, overrides, said):
    assert said in refusal(project, *overrides)


def test_all_faults_are_named_together(project):
    message = refusal(project, "seeds=0", "word_cap.words=-5")
    assert "seeds" in message
    assert "word_cap.words" in message


def test_a_sweep_is_every_combination(project):
    points = compose_points(project, ["model=strong,weak", "word_cap=500,none"], multirun=True)
    assert [(p.settings.model.label, p.settings.word_cap.words) for p in points] == [
        ("strong", 500),
        ("strong", None),
        ("weak", 500),
        ("weak", None),
    ]


def test_an_experiment_is_a_grid_and_an_override_narrows_it(project):
    points = compose_points(project, ["+experiment=baselines"], multirun=False)
    assert [p.settings.model.label for p in points] == ["strong", "extractive", "weak", "empty"]
    points = compose_points(project, ["+experiment=baselines", "model=weak"], multirun=False)
    assert [p.settings.model.label for p in points] == ["weak"]


@pytest.mark.parametrize(
    "value",
    [
        "ä b",
        "a=b",
        "http://h/v1?version=1",
        "a'b",
        'say "a"',
        "(a",
        "{a",
        "x]",
        "日本",
        "a#1",
        "~x",
        'a\\"',
    ],
)
def test_a_value_that_must_be_quoted_is_refused_with_what_to_type(project, value):
    message = refusal(project, f"model.note={value}")
    assert "\n" not in message
    said, _, suggested = message.rpartition("; expected ")
    assert said == f"model.note={value}: a value that has to be quoted"
    (typed,) = shlex.split(suggested)  # as a shell hands it over
    assert one(project, typed).settings.model.note == value


def test_what_no_quotes_help_is_refused_in_a_line(project):
    within = refusal(project, "model.parameters={a: b=c}")
    assert within.startswith(
        "model.parameters={a: b=c}: not an override; expected texts in double quotes within"
    )
    assert refusal(project, "model.note").startswith("model.note: not an override; expected key=value")
    assert "no key 'model nöte'" in refusal(project, "model nöte=x")
    assert refusal(project, "model.note=a,b").endswith(
        """Add -m for a sweep, or type 'model.note="a,b"' for a text with commas"""
    )
    assert refusal(project, "model.note=a,ä", multirun=True).endswith("""'model.note="a","ä"'""")
    assert refusal(project, "model.note=${nobody}").endswith("For ${ as it stands, write \\${")
    assert one(project, "model.note=\\${nobody}").settings.model.note == "${nobody}"


SECRETS = [
    ("model.api_base='http://h/v1?api-version=2&key=abc'", "under 'key'"),
    ("model.api_base='http://h/v1?API-KEY=abc'", "under 'API-KEY'"),
    ("model.api_base='http://h/v1?sv=1&sig=abc'", "under 'sig'"),
    ("model.api_base='http://h/v1?access_token=abc'", "under 'access_token'"),
    ("model.api_base='http://h/v1?code=abc'", "under 'code'"),
    ("model.api_base='http://h/v1?x=0a1b2c3d4e5f60718293a4b5c6d7e8f9'", "under 'x'"),
    ("model.api_base='http://user:abc@h/v1'", "a user or a password in the address"),
    ("model.api_base='http://abc@h/v1'", "a user or a password in the address"),
    ("model.parameters.extra_headers={Authorization: abc}", "extra_headers would be stored"),
    ("model.parameters.headers={x: abc}", "headers would be stored"),
    ("model.parameters.extra_body={a: [{api_key: abc}]}", "api_key would be stored"),
    ("model.parameters.Authorization=abc", "Authorization would be stored"),
    ("model.parameters.aws_secret_access_key=abc", "aws_secret_access_key would be stored"),
    ("model.efforts.high={token: abc}", "token would be stored"),
    ("model.headers.X-Key=abc-def", "model.headers.X-Key: no name of an environment variable"),
    ("model.headers={X@Y: ABC}", "'X@Y' is no name of a header"),
    ("model.headers.Host=ABC", "is set already"),
    ("model.headers={X-A: ABC, x-a: ABC}", "is set already"),
    ("model.api_key_env=sk-abc", "model.api_key_env: no name of an environment variable"),
]


@pytest.mark.parametrize(("number", "override", "said"), [(n, *case) for n, case in enumerate(SECRETS)])
def test_a_secret_in_a_configuration_is_refused_and_not_shown(project, number, override, said):
    section = ("model", "judge", "judge.members.second")[number % 3]
    words = {"model": REMOTE, "judge": [word.replace("model", "judge", 1) for word in REMOTE]}
    panel = ["judge=panel", "judge.members.first=offline", "judge.members.second=openai_compatible"]
    panel += [word.replace("model", "judge.members.second", 1) for word in REMOTE[1:]]
    message = refusal(project, *words.get(section, panel), override.replace("model", section, 1))
    assert said.replace("model", section) in message
    assert "abc" not in message.replace("access_", "")


@pytest.mark.parametrize(
    "override",
    [
        "model.api_base='https://h/v1?api-version=2026-01-01-preview'",
        "model.parameters={max_tokens: 5, prompt_cache_key: a, extra_body: {stop_token_ids: [1]}}",
        "model.headers={X-Team: MY_TEAM, anthropic-beta: MY_BETA}",
    ],
)
def test_what_only_looks_like_a_secret_is_taken(project, override):
    assert one(project, *REMOTE, override)


def test_a_key_below_parameters_may_be_anything(project):
    settings = one(project, *REMOTE, "model.parameters.top_p=0.5").settings
    assert settings.model.parameters == {"top_p": 0.5}


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("benchmark.name=../up", "benchmark.name: '../up'; expected up to 60 of"),
        ("benchmark.name=a/b", "benchmark.name: 'a/b'"),
        ("benchmark.name=Completions", "free in results/"),
        (f"benchmark.name={'b' * 61}", "benchmark.name"),
        ("scoring.name=../x", "scoring.name: '../x'"),
        (f"results={'r' * 256}", "the name is too long"),
        (f"results={'/'.join(['r' * 200] * 25)}", "the name is too long"),
    ],
)
def test_a_folder_that_can_not_be_is_refused_before_anything_runs(project, override, said):
    assert said in refusal(project, override)
