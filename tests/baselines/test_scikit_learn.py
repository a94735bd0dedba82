"""The published trees pass scikit-learn's own estimator checks."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from privatree.baselines import (
    BDPTClassifier,
    DiffGen,
    DPGDFClassifier,
    PrivateRDT,
    PublishedClassifier,
)

# No check passes a schema, and every fit says that the claim is not a guarantee.
pytestmark = pytest.mark.filterwarnings("ignore::privatree.PrivacyLeakWarning")


TREE = PublishedClassifier(DiffGen())
FOREST = PublishedClassifier(PrivateRDT(n_trees=3))


@parametrize_with_checks([BDPTClassifier(), DPGDFClassifier(), TREE, FOREST])
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)
