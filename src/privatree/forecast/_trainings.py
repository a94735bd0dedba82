"""One training without privacy and one with each epsilon, and their scores on test records."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from privatree.estimators import PrivaBoostClassifier, PrivaTreeClassifier
from privatree.forecast._bundled import bundled_records
from privatree.forecast._made_up import made_up_records
from privatree.forecast._setting import Setting

LEARNERS = {"tree": PrivaTreeClassifier, "boost": PrivaBoostClassifier}
PEERS = {"tree": DecisionTreeClassifier, "boost": HistGradientBoostingClassifier}
"""The learner without privacy that a private learner is compared with."""


class Scores(NamedTuple):
    """Scores of one model on test records. The AUC is the mean over one class against the rest."""

    accuracy: float
    auc: float


class Repeat(NamedTuple):
    """The scores of one repeat on one table: without privacy, and with each epsilon."""

    plain: Scores
    private: tuple[Scores, ...]


def train_once(table: str | int, setting: Setting, repeat: int) -> Repeat:
    """Train on a bundled dataset, given its name, or on a made-up table, given its number."""
    records = bundled_records if isinstance(table, str) else made_up_records
    with threadpool_limits(1):  # more threads wait for each other where the machine is busy
        train, test, schema = records(table, setting, repeat)  # type: ignore[arg-type]
        return compare_on_records(train, test, schema, setting, 1000 * setting.seed + repeat)


def compare_on_records(
    train: tuple[Any, Any], test: tuple[Any, Any], schema: Any, setting: Setting, random_state: int
) -> Repeat:
    """Train without privacy and with each epsilon on the same records, and score the models."""
    X, y = train
    peer: Any = PEERS[setting.model](random_state=0)
    if setting.model == "tree":
        peer.set_params(max_depth=PrivaTreeClassifier().max_depth)
    plain = peer.fit(_category_codes(X), y)
    private = []
    for epsilon in setting.epsilons:
        learner = LEARNERS[setting.model](epsilon, schema=schema, random_state=random_state)
        private.append(_scores(learner.fit(X, y), *test))
    return Repeat(_scores(plain, _category_codes(test[0]), test[1]), tuple(private))


def _scores(model: Any, X: Any, y: Any) -> Scores:
    right = np.asarray(model.predict(X) == np.asarray(y))
    return Scores(float(right.mean()), _auc(np.asarray(y), model.predict_proba(X), model.classes_))


def _auc(y: NDArray[Any], probabilities: NDArray[np.float64], classes: NDArray[Any]) -> float:
    """Return the mean AUC of one class against the rest, over the classes that can be scored."""
    found = [
        roc_auc_score(y == label, probabilities[:, place])
        for place, label in enumerate(classes)
        if 0 < np.count_nonzero(y == label) < len(y)
    ]
    return float(np.mean(found)) if found else 0.5


def _category_codes(frame: Any) -> Any:
    """Return the frame with categories as numbers, for scikit-learn."""
    return frame.apply(lambda column: column.cat.codes if column.dtype == "category" else column)
