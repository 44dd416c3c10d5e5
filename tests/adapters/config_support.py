"""Settings as they are composed here, and how a refusal is caught."""

import pytest

from flows.adapters.config.compose import compose_points
from flows.common.errors import StaffbenchError
from flows.schema.condition import judge_of

REMOTE = ["model=openai_compatible", "model.name=a/b", "model.api_base=http://127.0.0.1:9/v1"]


def one(project, *overrides):
    (point,) = compose_points(project, list(overrides), multirun=False)
    return point


def refusal(project, *overrides, multirun=False):
    with pytest.raises(StaffbenchError) as caught:
        compose_points(project, list(overrides), multirun=multirun)
    assert caught.value.exit_code == 2
    return str(caught.value)


def labels(point):
    return judge_of(point.settings, point.changed).members
