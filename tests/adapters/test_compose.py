"""Options are composed once and values set afterwards: the same as Hydra does it in one go."""

import pytest
from hydra import compose as compose_by_hydra
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from flows.adapters.config.compose import compose, compose_points, opened
from flows.adapters.config.sources import compose_from
from flows.common.errors import ConfigError

REMOTE = ["model=openai_compatible", "model.name=a/b", "model.api_base='http://127.0.0.1:9/v1'"]


def composed_by_us(project, overrides):
    with opened(project):
        return OmegaConf.to_yaml(OmegaConf.create(compose(project, overrides)[0]))


def by_hydra_alone(project, overrides):
    GlobalHydra.instance().clear()
    with initialize_config_dir(str((project / "conf").resolve()), version_base="1.3"):
        return OmegaConf.to_container(compose_by_hydra("config", overrides=list(overrides)), resolve=True)


@pytest.mark.parametrize(
    "overrides",
    [
        [],
        ["model=strong", "word_cap=none", "seeds=5"],
        ["word_cap.words=17", "results='a b'", "benchmark.scenarios=[varn_corridor]"],
        ["scoring.weights={important:3}"],
        [*REMOTE, "+model.parameters={top_p:0.3}", "+model.price={input_per_million:1}"],
        ["++seeds=7", "seeds=8", "++seeds=9"],
        ["judge=panel", "judge@judge.members.first=offline", "+judge@judge.members.new=offline"],
        ["judge=panel", "judge.members.first.max_attempts=1"],
        ["model.name=${benchmark.data}", "benchmark.data=elsewhere", "benchmark.name=any"],
        ["+experiment=smoke", "seeds=2"],
    ],
)
def test_what_is_composed_is_what_hydra_composes(project, overrides):
    expected = by_hydra_alone(project, overrides)
    typed = [one.replace("judge@judge.members", "judge.members") for one in overrides]
    composed = composed_by_us(project, typed)
    assert composed == OmegaConf.to_yaml(OmegaConf.create(expected))  # the order of the keys too


@pytest.mark.parametrize(
    "override",
    ["+seeds=3", "~model.name", "+word_cap.words=3", "word_cap.words=1,2", "results=${nope}", "~seeds=4"],
)
def test_what_hydra_refuses_is_refused_in_its_words(project, override):
    with pytest.raises((HydraException, OmegaConfBaseException)) as alone:
        by_hydra_alone(project, [override])
    with pytest.raises(ConfigError) as ours:
        composed_by_us(project, [override])
    assert ours.value.found == str(alone.value).splitlines()[0]


def test_a_sweep_composes_each_option_once_and_its_values_stay_apart(project, monkeypatch):
    composed = []

    def counted(folder, source, overrides):
        composed.append(overrides)
        return compose_from(folder, source, overrides)

    monkeypatch.setattr("flows.adapters.config.steps.compose_from", counted)
    asked = [*REMOTE, "model.name=a,b,c", "seeds=2,3", "judge=offline"]
    points = compose_points(project, asked, multirun=True)
    found = [(point.settings.model.name, point.settings.seeds) for point in points]
    assert found == [("a", 2), ("a", 3), ("b", 2), ("b", 3), ("c", 2), ("c", 3)]
    assert len(composed) == 2  # as chosen, and by every axis's name, to see what was changed
    assert points[0].choices is not points[1].choices


def test_an_edited_option_is_read_again(tmp_path, project):
    (tmp_path / "conf").symlink_to(project / "conf")
    assert compose_points(tmp_path, ["seeds=2"], multirun=False)[0].settings.word_cap.words == 3000
    (tmp_path / "conf").unlink()
    copied = tmp_path / "conf"
    copied.mkdir()
    for file in (project / "conf").rglob("*.yaml"):
        target = copied / file.relative_to(project / "conf")
        target.parent.mkdir(exist_ok=True)
        target.write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    (copied / "word_cap" / "3000.yaml").write_text("words: 2999\n", encoding="utf-8")
    assert compose_points(tmp_path, ["seeds=2"], multirun=False)[0].settings.word_cap.words == 2999


SEVERITY = {"critically_important": 9, "important": 5.5, "slightly_important": 2}
SEVERITY |= {"detrimental": -5.5, "critically_detrimental": -9}


def scoring_of(project, *overrides):
    (point,) = compose_points(project, overrides, multirun=False)
    return point.settings.scoring


def weights(**changes):
    return "scoring.weights={" + ",".join(f"{k}:{v}" for k, v in (SEVERITY | changes).items()) + "}"


def test_overridden_points_never_go_by_the_published_name(project):
    def scoring(*overrides):
        return scoring_of(project, *overrides)

    published = scoring()
    assert published.name == "severity"
    assert scoring(weights()) == published
    other = scoring(weights(critically_important=1))
    assert other.name.startswith("severity-")
    assert set(other.assumed) == {*published.assumed, "critically_important"}
    names = {
        scoring(*changes).name
        for changes in (
            (),
            ("scoring=unweighted",),
            (weights(critically_important=1),),
            (weights(critically_important=2),),
            ("scoring.clamped=true",),
            ("scoring.interval_level=0.9",),
            ("scoring.resamples=99",),
        )
    }
    assert len(names) == 7
    assert scoring("scoring.name=mine").name == "mine"
    assert scoring("scoring.name=mine", "scoring.clamped=true").name.startswith("mine-")
