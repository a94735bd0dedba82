"""Whether a training is refused follows from schema and parameters, not from where records are.

``privatree fit --engine auto`` holds records or reads them in passes by how much there is of them:
an outcome that depends on that would tell how many there are.
"""

import numpy as np
import pandas as pd
import pytest
from batches_in_memory import FrameBatches

from privatree import (
    Categorical,
    Numeric,
    ParameterError,
    PrivaTreeClassifier,
    PrivaTreeRegressor,
    Schema,
    Target,
)
from privatree.counting import _passes as passes
from privatree.learners.tree import _plan as record_plan
from privatree.privacy import Budget
from privatree.sources import Source, SparkSource


def numbers(n_features, n_classes=2):
    return Schema(
        {f"x{place}": Numeric(0, 1) for place in range(n_features)},
        [f"class {place}" for place in range(n_classes)],
    )


WIDE, WIDER, MANY_CLASSES = numbers(30), numbers(60), numbers(20, n_classes=700)
CATEGORIES = Schema({"kind": Categorical(range(2000))}, ["class 0", "class 1"])
A_TARGET, WIDE_AND_A_TARGET = (
    Schema(numbers(n_features).features, target=Target(0, 1)) for n_features in (20, 200)
)
FIT = [
    (WIDE, {"lookahead": 2, "max_depth": 16}),
    (WIDE, {"lookahead": 3, "max_depth": 16}),
    (WIDE, {"lookahead": 3, "max_depth": None, "neighbours": "replace"}),
    (WIDER, {"lookahead": 3}),
    (WIDER, {"lookahead": 3, "schedule": "robust", "max_depth": 16}),
    (A_TARGET, {"lookahead": 3}),
]
REFUSED = [
    (MANY_CLASSES, {"lookahead": 3}),
    (MANY_CLASSES, {"lookahead": 3, "neighbours": "replace"}),
    (CATEGORIES, {"max_depth": 16}),
    (WIDE, {"lookahead": 4}),
    (WIDE, {"max_depth": 17}),
    (WIDE_AND_A_TARGET, {"lookahead": 3, "n_bins": 256}),
]
SMALL = {"epsilon": 0.001, "random_state": 0}  # so that trees are small: it is quick


class CountingBeginsError(Exception):
    pass


class NeverCounted(Source):
    """A source of any kind, at which training arrives and goes no further."""

    def _find_columns(self, schema):
        pass

    def _make_pass(self, question, advance):
        raise CountingBeginsError


def records(schema):
    values = np.linspace(0, 1, 7)
    frame = pd.DataFrame(dict.fromkeys(schema.names, values))
    if schema.target is not None:
        return frame, pd.Series(values)
    return frame, pd.Series(["class 0", "class 1"] * 3 + ["class 0"])


def refusal(schema, parameters, *X):
    """The error, or None; nothing is charged if there is one."""
    budget = Budget(1, neighbours=parameters.get("neighbours", "add-remove"))
    learner = PrivaTreeClassifier if schema.target is None else PrivaTreeRegressor
    try:
        learner(**SMALL, **parameters, schema=schema, budget=budget).fit(*X)
    except CountingBeginsError:
        return None
    except ParameterError as error:
        assert not budget.charges
        return str(error)
    return None


def refusals(schema, parameters):
    """Of records in memory, by passes in this process, and in any other."""
    frame, labels = records(schema)
    return [
        refusal(schema, parameters, frame, labels),
        refusal(schema, parameters, FrameBatches(frame, labels, 3, in_memory=True)),
        refusal(schema, parameters, FrameBatches(frame, labels, 3)),
        refusal(schema, parameters, NeverCounted("target", None)),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("schema", "parameters"), FIT)
def test_what_can_be_trained_can_be_trained_anywhere(schema, parameters):
    assert refusals(schema, parameters) == [None] * 4


@pytest.mark.parametrize(("schema", "parameters"), REFUSED)
def test_what_is_refused_is_refused_everywhere_in_the_same_words(schema, parameters):
    first, *others = refusals(schema, parameters)
    assert first is not None
    assert others == [first] * 3


def test_what_is_not_refused_fits_in_a_pass():
    assert record_plan.MAX_TABLE <= passes.MAX_CELLS


def test_no_source_decides_for_itself():
    """So that what holds for the sources above holds for Spark."""
    assert SparkSource.counts is Source.counts
    assert SparkSource.answer is Source.answer


def test_the_message_says_what_to_do():
    with pytest.raises(ParameterError, match=r'lookahead must be smaller .* lookahead="auto"'):
        PrivaTreeClassifier(lookahead=3, schema=MANY_CLASSES).fit(NeverCounted("target", None))
