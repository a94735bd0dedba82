"""No baseline knows weights or units: each refuses them before it reads a record."""

from dataclasses import replace

import numpy as np
import people
import pytest
from people import SCHEMA
from sklearn.utils.validation import has_fit_parameter

from privatree import PaperPrivaTreeClassifier, ParameterError
from privatree.baselines import BDPTClassifier, DPGDFClassifier, RandomTreeClassifier
from privatree.robustness import DPAClassifier
from privatree.sources import ArrowSource

TREES = [PaperPrivaTreeClassifier, BDPTClassifier, DPGDFClassifier, RandomTreeClassifier]
FRAME, LABELS = people.table(40)
REFUSED = "must not give units or weights to {}, which treats every record alike"


@pytest.mark.parametrize("name", ["sample_weight", "units"])
@pytest.mark.parametrize("classifier", TREES)
def test_weights_and_units_are_refused_before_anything_is_read(classifier, name):
    learner = classifier(schema=SCHEMA, random_state=0)
    with pytest.raises(ParameterError, match=REFUSED.format(classifier.__name__)) as caught:
        learner.fit(object(), None, **{name: np.ones(40)})
    assert caught.value.parameter == name
    assert not has_fit_parameter(learner, name)
    assert not hasattr(learner, f"set_{name}_request")


@pytest.mark.filterwarnings("ignore::privatree.PaperClaimWarning")
@pytest.mark.parametrize("classifier", TREES)
def test_no_weights_are_no_weights_and_other_keywords_are_unknown(classifier):
    learner = classifier(schema=SCHEMA, random_state=0)
    learner.fit(FRAME, LABELS, sample_weight=None, units=None)
    with pytest.raises(TypeError, match=r"fit\(\) got an unexpected keyword argument 'weights'"):
        learner.fit(FRAME, LABELS, weights=None)


@pytest.mark.parametrize("classifier", [*TREES, DPAClassifier])
def test_a_schema_with_a_unit_is_refused(classifier):
    learner = classifier(schema=replace(SCHEMA, unit="patient_id"))
    with pytest.raises(ParameterError, match=REFUSED.format(classifier.__name__)) as caught:
        learner.fit(FRAME, LABELS)
    assert caught.value.parameter == "schema"


@pytest.mark.parametrize("option", ["unit", "weight"])
def test_a_source_with_units_or_weights_is_refused(option):
    whole = FRAME.assign(target=LABELS, column=np.arange(40))
    source = ArrowSource(whole, target="target", **{option: "column"})
    with pytest.raises(ParameterError, match=REFUSED.format("PaperPrivaTreeClassifier")) as caught:
        PaperPrivaTreeClassifier(schema=SCHEMA).fit(source)
    assert caught.value.parameter == option
