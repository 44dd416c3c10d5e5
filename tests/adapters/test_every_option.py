"""Every option of conf/ is composed by validate, and a broken one is named."""

import shutil

import pytest
from omegaconf import OmegaConf

from flows.adapters.config import every_option
from flows.adapters.config.compose import opened
from flows.adapters.config.described import options
from flows.adapters.config.every_option import check_options


@pytest.fixture
def copied(tmp_path, project):
    """A project with few models and judges: others cost time and show nothing more."""
    shutil.copytree(project / "conf", tmp_path / "conf")
    for axis in ("model", "judge"):
        for file in (tmp_path / "conf" / axis).glob("*.yaml"):
            if file.stem not in KEPT and not file.stem.startswith("_"):
                file.unlink()
    for file in (tmp_path / "conf" / "experiment").iterdir():
        file.unlink()
    (tmp_path / "conf" / "experiment" / "smoke.yaml").write_text(GRID, encoding="utf-8")
    return tmp_path


KEPT = ("extractive", "strong", "weak", "empty", "oracle", "fair", "absent", "corrupt")
KEPT += ("openai_compatible", "offline", "gpt_6_luna", "openai", "litellm", "hosted")
GRID = "# @package _global_\nhydra: {mode: MULTIRUN, sweeper: {params: {model: 'strong,weak', seeds: 1}}}\n"
AXES = {  # a value that each axis's options may not have, and what is said of it
    "benchmark": ("name", "[a]", "benchmark.name: ['a']; expected a text"),
    "budget": ("max_usd", "-1", "budget.max_usd: -1.0; expected 0 or more"),
    "effort": ("level", "hihg", "effort.level: 'hihg'; expected high"),
    "experiment": ("hydra.sweeper.params.seeds", "0", "seeds: 0; expected more than 0"),
    "harness": ("max_steps", "0", "harness.max_steps: 0; expected more than 0"),
    "judge": ("repeat", "0", "judge.repeat: 0; expected more than 0"),
    "judge_prompt": ("failed_only", "7", "judge_prompt.failed_only: 7; expected a text"),
    "model": ("efforts", "7", "model.efforts: 7; expected keys below it"),
    "prompt": ("words", "0", "prompt.words: 0; expected more than 0"),
    "runner": ("concurrency", "many", "runner.concurrency: 'many'; expected a whole number"),
    "scoring": ("interval_level", "2", "scoring.interval_level: 2.0; expected between 0 and 1"),
    "tracking": ("enabled", "many", "tracking.enabled: 'many'; expected true or false"),
    "word_cap": ("words", "0", "word_cap.words: 0; expected more than 0"),
}
SOUND = {"model": "strong", "judge": "offline", "benchmark": "smoke", "experiment": "smoke"}


@pytest.mark.slow
def test_every_option_composes(project):
    assert check_options(project) == (sum(map(len, options(project).values())), [])


REACHING = "# @package _global_\ntracking: {enabled: false, experiment: any}\nrunner: {concurrency: 0}\n"


@pytest.mark.slow
def test_a_wrong_value_is_found_on_every_axis_and_named(copied):
    assert AXES.keys() == options(copied).keys()
    count = sum(map(len, options(copied).values()))
    for axis, (key, value, _) in AXES.items():
        folder = copied / "conf" / axis
        name = SOUND.get(axis) or min(path.stem for path in folder.glob("*.yaml"))
        text = (folder / f"{name}.yaml").read_text(encoding="utf-8")
        broken = OmegaConf.create(text)
        OmegaConf.update(broken, key, OmegaConf.create(f"v: {value}").v)
        header = "# @package _global_\n" if "@package _global_" in text else ""
        (folder / "broken.yaml").write_text(header + OmegaConf.to_yaml(broken), encoding="utf-8")
    checked, problems = check_options(copied)
    assert checked == count
    assert len(problems) == len(AXES)
    for (axis, (_, _, said)), problem in zip(sorted(AXES.items()), problems, strict=True):
        assert said in str(problem), axis


BROKEN = [  # an option that does not compose at all, and what is said of it
    ("runner", "concurrency: [", "while parsing a flow node"),
    ("judge", "defaults: [nobody, _self_]\n", "nobody"),
    ("prompt", "version: ${nothing.here}\n", "nothing.here"),
    ("model", "- a\n- list\n", "model=broken model.name=any"),
    ("word_cap", "words: 5\nwrods: 6\n", "word_cap.wrods: no such key; expected word_cap.words"),
    ("budget", "defaults:\n  - override /judge: nobody\n  - _self_\n", "Could not override"),
    ("tracking", REACHING, "runner.concurrency: 0"),
    ("harness", "# \xff\n", "can't decode"),
    ("scoring", "5\n", "scoring=broken"),
]


OWN = """# @package _global_
defaults:
  - override /scoring: own
benchmark:
  name: own
  protocol: ma_bench
  data: data/own
  controls: null
  scenarios: null
  dimensions: {steps: [a], tiers: [b], severities: [vital, useful], wrong_moves: [harmful], optional: []}
"""
OWN_WEIGHTS = """name: own
weights: {vital: 4, useful: 1, harmful: -2}
assumed: []
"""


def test_options_that_do_not_compose_are_the_only_ones_named(copied):
    conf = copied / "conf"
    for axis, text, _ in BROKEN:
        (conf / axis / "broken.yaml").write_text(text, encoding="latin-1")
    # Weights of classes that the default benchmark lacks; with a fault, it alone is named.
    rest = (conf / "scoring" / "severity.yaml").read_text(encoding="utf-8")
    weights = OWN_WEIGHTS + rest[rest.index("clamped:") :].replace("assumed: [important", "# [important")
    for name, text in (("own", weights), ("typo", weights.replace("vital", "vitel"))):
        (conf / "benchmark" / f"{name}.yaml").write_text(OWN.replace("own", name), encoding="utf-8")
        (conf / "scoring" / f"{name}.yaml").write_text(text, encoding="utf-8")
    said = "scoring.weights.vitel: no such severity; expected vital"
    broken = sorted([*BROKEN, ("benchmark", "typo", said), ("scoring", "typo", said)])
    count = sum(map(len, options(copied).values()))
    checked, problems = check_options(copied)
    assert checked == count - len(broken)
    for (axis, _, said), problem in zip(broken, problems, strict=True):
        assert said in str(problem), axis


def test_a_judge_that_is_asked_nothing_composes_alone_too(project):
    for name in ("offline", "panel", "openai_compatible"):
        assert every_option._composed(project, "judge", name) is None


def test_an_option_without_self_in_its_defaults_composes_without_hydras_warning(copied, recwarn):
    text = "defaults: [extractive]\nlabel: mine\n"
    (copied / "conf" / "model" / "mine.yaml").write_text(text, encoding="utf-8")
    with opened(copied):
        assert every_option._Composer(copied, []).is_sound("model", "mine")
    assert not [one for one in recwarn if "_self_" in str(one.message)]
