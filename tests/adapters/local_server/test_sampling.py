"""Which token is next: shares by hand, and a draw that says what it is told."""

import numpy as np
import pytest

from flows.adapters.local_server.engine import Sampling, choose

LOGITS = np.log(np.array([0.2, 0.5, 0.3], dtype=np.float32))  # so the shares are these at temperature 1


class Draw:
    def __init__(self, value):
        self.value = value

    def random(self):
        return self.value


@pytest.mark.parametrize(
    ("temperature", "top_p", "drawn", "token"),
    [
        (1, 1, 0.49, 1),  # likeliest first: 0.5, then 0.3, then 0.2
        (1, 1, 0.51, 2),
        (1, 1, 0.79, 2),
        (1, 1, 0.81, 0),
        (1, 0.4, 0.99, 1),  # the first alone holds 0.4
        (1, 0.7, 0.62, 1),  # the first two hold 0.8: 0.5 / 0.8 = 0.625 falls to the first
        (1, 0.7, 0.63, 2),
        (0.5, 1, 0.65, 1),  # squares: 0.25, 0.09, 0.04 of 0.38, so 0.658, 0.237, 0.105
        (0.5, 1, 0.67, 2),
        (0.5, 1, 0.90, 0),
    ],
)
def test_a_token_is_drawn_from_the_likeliest(temperature, top_p, drawn, token):
    assert choose(LOGITS, Sampling(temperature, top_p, 1), Draw(drawn)) == token


def test_without_temperature_nothing_is_drawn():
    assert choose(LOGITS, Sampling(0, 1, 1), None) == 1


def test_a_draw_at_the_very_end_is_the_last_token():
    assert choose(LOGITS, Sampling(1, 1, 1), Draw(1.0)) == 0
