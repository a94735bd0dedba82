import numpy as np
import pytest

from privatree import ParameterError
from privatree.forecast import forecast


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"records": 99}, "records must be an integer of at least 100, got 99."),
        ({"records": 1e4}, "records must be an integer of at least 100, got 10000.0."),
        (
            {"records": 100_001},
            "records must be at most 100000, got 100001. For a rough guide, ",
        ),
        ({"records": 100, "classes": 6}, "records must be at least 20 for each of 6 classes, "),
        ({"epsilon": float("nan")}, "epsilon must be a number from 1e-06 to 1000, got nan."),
        ({"epsilon": (1, 0)}, "epsilon must be a number from 1e-06 to 1000, got 0."),
        ({"epsilon": ()}, "epsilon must be a number or a list of 1 to 20 numbers, got ()."),
        ({"epsilon": "1"}, "epsilon must be a number or a list of 1 to 20 numbers, got '1'."),
        ({"classes": 1}, "classes must be an integer from 2 to 20, got 1."),
        ({"features": 1}, "features must be an integer from 2 to 200, got 1."),
        ({"majority_share": 0.4}, "majority_share must be from 0.5 (equal classes) to 0.99, "),
        (
            {"classes": 3, "majority_share": 0.3},
            "majority_share must be from 0.33 (equal classes) to 0.99, got 0.3.",
        ),
        ({"model": "forest"}, 'model must be "tree" or "boost", got \'forest\'.'),
        ({"without": "adlut"}, "got 'adlut'. Did you mean 'adult'?"),
        ({"without": 5}, "without must have names of bundled datasets (adult, "),
        ({"seed": -1}, "seed must be an integer from 0 to 4294967295, got -1."),
        ({"n_jobs": 3}, "n_jobs must be an integer from 1 to 2, got 3."),
    ],
)
def test_a_wrong_parameter_is_refused_before_any_training(trainings, parameters, message):
    with pytest.raises(ParameterError) as refused:
        forecast(**({"records": 1000, "epsilon": 1} | parameters))
    assert message in str(refused.value)
    assert trainings.calls == []


def test_epsilons_are_sorted_and_each_is_taken_once(trainings):
    made = forecast(1000, [1, 0.5, 1.0])
    assert made.setting.epsilons == (0.5, 1.0)
    assert forecast(1000, np.array([0.5, 1.0])) == made
    assert forecast(1000, 0.5).setting.epsilons == (0.5,)


def test_a_third_is_written_with_two_digits(trainings):
    assert forecast(1000, 1, classes=3, majority_share=0.33).setting.majority_share == 1 / 3
