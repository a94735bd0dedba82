"""Every method that audits and tables compare, in the order of the tables' columns.

To add a method, add a function that makes its classifier, and an entry to the list. The results of
other methods in an output folder stay valid.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import privatree
from privatree import baselines
from privatree._support.suggestions import did_you_mean
from privatree.baselines._other_libraries import (
    EBM_DELTA,
    BoundedEBMClassifier,
    CodedForestClassifier,
    ScaledLogisticRegression,
    diffprivlib_bounds,
)
from privatree.baselines.methods._method import (
    CLAIMED,
    LEAKING,
    NO_PRIVACY,
    PRIVATE,
    Method,
    Training,
    encode_method_numbers,
    method_needs_categories,
    method_needs_two_classes,
)
from privatree.baselines.methods._survey import SURVEYED_CLAIMED, SURVEYED_PRIVATE, TABLE_1
from privatree.errors import ParameterError

BOOST_DELTA = 1e-6
"""Delta of the ensemble with a delta."""


def names() -> tuple[str, ...]:
    """Return the ids of all methods, in the order of the tables.

    Examples
    --------
    >>> from privatree.baselines.methods import names
    >>> names()[:4]
    ('decision-tree', 'dpa', 'lightgbm', 'bdpt')
    """
    return tuple(_METHODS)


def survey() -> tuple[str, ...]:
    """Return the ids of the methods of the paper's table of related work, in its order.

    Examples
    --------
    >>> from privatree.baselines.methods import survey
    >>> survey()[:3]
    ('sulq-id3', 'private-rdt', 'private-rdt-forest')
    """
    return TABLE_1


def get(name: str) -> Method:
    """Return the method with this id.

    Examples
    --------
    >>> from privatree.baselines.methods import get
    >>> get("random-tree").stands_in_for
    'diffprivlib-tree'
    """
    if name not in _METHODS:
        raise ParameterError(
            f"method must be one of {', '.join(_METHODS)}, got {name!r}."
            f"{did_you_mean(name, tuple(_METHODS))}"
        )
    return _METHODS[name]


def _make_decision_tree_method(training: Training) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=training.max_depth, random_state=training.seed)


def _make_decision_tree_of_numbers(training: Training) -> Any:
    from sklearn.tree import DecisionTreeRegressor

    return DecisionTreeRegressor(max_depth=training.max_depth, random_state=training.seed)


def _make_dpa_method(training: Training) -> Any:
    """Make DPA [LF21] as the paper ran it. Nothing in it is random, so the seed is not used."""
    from sklearn.tree import DecisionTreeClassifier

    return privatree.robustness.DPAClassifier(
        DecisionTreeClassifier(max_depth=training.max_depth),
        n_partitions=1000,
        classes=training.schema.classes,
    )


def _make_lightgbm_method(training: Training) -> Any:
    """Make LightGBM with the library's defaults, on one thread."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=training.seed, n_jobs=1, deterministic=True, verbose=-1)


def _make_bdpt_method(training: Training) -> Any:
    return baselines.BDPTClassifier(**training.options)


def _make_dpgdf_method(training: Training) -> Any:
    return baselines.DPGDFClassifier(**training.options)


def _make_random_tree_method(training: Training) -> Any:
    return baselines.RandomTreeClassifier(**training.options)


def _make_paper_method(training: Training) -> Any:
    return privatree.PaperPrivaTreeClassifier(**training.options, quantiles="private")


def _make_paper_star_method(training: Training) -> Any:
    return privatree.PaperPrivaTreeClassifier(**training.options, quantiles="exact")


def _make_privatree_method(training: Training) -> Any:
    return privatree.PrivaTreeClassifier(**training.options)


def _make_privatree_of_numbers(training: Training) -> Any:
    return privatree.PrivaTreeRegressor(**training.options)


def _make_privatree_robust_method(training: Training) -> Any:
    return privatree.PrivaTreeClassifier(**training.options, schedule="robust")


def _make_privatree_robust_of_numbers(training: Training) -> Any:
    return privatree.PrivaTreeRegressor(**training.options, schedule="robust")


def _make_privaboost_method(training: Training) -> Any:
    return privatree.PrivaBoostClassifier(**_privaboost_method_options(training), delta=BOOST_DELTA)


def _make_privaboost_of_numbers(training: Training) -> Any:
    return privatree.PrivaBoostRegressor(**_privaboost_method_options(training), delta=BOOST_DELTA)


def _make_privaboost_pure_method(training: Training) -> Any:
    return privatree.PrivaBoostClassifier(**_privaboost_method_options(training), delta=0)


def _make_privaboost_pure_of_numbers(training: Training) -> Any:
    return privatree.PrivaBoostRegressor(**_privaboost_method_options(training), delta=0)


def _privaboost_method_options(training: Training) -> dict[str, Any]:
    """Return the options. A function of the ensemble looks at 2 features, as by default, or 1."""
    return {**training.options, "max_depth": min(training.max_depth, 2)}


def _diffprivlib_method_options(training: Training) -> dict[str, Any]:
    return {
        "epsilon": training.epsilon,
        "max_depth": training.max_depth,
        "bounds": diffprivlib_bounds(training.schema),
        "classes": np.array(training.schema.classes),
        "random_state": training.seed,
    }


def _make_diffprivlib_tree_method(training: Training) -> Any:
    from diffprivlib.models import DecisionTreeClassifier

    return DecisionTreeClassifier(**_diffprivlib_method_options(training))


def _make_diffprivlib_forest_method(training: Training) -> Any:
    """Make a forest with the library's defaults. Its epsilon is wrong: see ``docs/audits.md``."""
    return CodedForestClassifier(
        training.schema, training.epsilon, training.max_depth, training.seed
    )


def _make_diffprivlib_logistic_method(training: Training) -> Any:
    return ScaledLogisticRegression(training.epsilon, training.seed)


def _make_dp_ebm_method(training: Training) -> Any:
    return BoundedEBMClassifier(training.schema, training.epsilon, training.seed)


_METHODS = {
    method.id: method
    for method in (
        Method(
            "decision-tree",
            "decision tree",
            NO_PRIVACY,
            _make_decision_tree_method,
            regressor=_make_decision_tree_of_numbers,
            encode=encode_method_numbers,
        ),
        Method(
            "dpa",
            "DPA",
            NO_PRIVACY,
            _make_dpa_method,
            encode=encode_method_numbers,
            caveat="DPA: a vote of 1000 trees, each of them trained on its own part of the "
            "records; neither private nor interpretable.",
            effort=6.0,
        ),
        Method(
            "lightgbm",
            "LightGBM",
            NO_PRIVACY,
            _make_lightgbm_method,
            encode=encode_method_numbers,
            requires="lightgbm",
            caveat="LightGBM: an ensemble of 100 trees, with the library's defaults.",
        ),
        Method("bdpt", "BDPT", LEAKING, _make_bdpt_method, claimed=True, gives_probabilities=False),
        Method(
            "privatree-star",
            "PrivaTree*",
            LEAKING,
            _make_paper_star_method,
            claimed=True,
            gives_probabilities=False,
        ),
        Method(
            "dpgdf",
            "DPGDF",
            CLAIMED,
            _make_dpgdf_method,
            applies_to=method_needs_categories,
            claimed=True,
            gives_probabilities=False,
        ),
        Method(
            "privatree-paper",
            "PrivaTree",
            CLAIMED,
            _make_paper_method,
            claimed=True,
            gives_probabilities=False,
        ),
        Method(
            "diffprivlib-forest",
            "DiffPrivLib forest",
            CLAIMED,
            _make_diffprivlib_forest_method,
            encode=encode_method_numbers,
            requires="diffprivlib",
            claimed=True,
            caveat="DiffPrivLib forest: its records are dealt to trees by position, so that one "
            "record moves the others.",
        ),
        *SURVEYED_CLAIMED,
        Method(
            "diffprivlib-tree",
            "DiffPrivLib",
            PRIVATE,
            _make_diffprivlib_tree_method,
            encode=encode_method_numbers,
            requires="diffprivlib",
            gives_probabilities=False,
        ),
        Method(
            "random-tree",
            "random tree",
            PRIVATE,
            _make_random_tree_method,
            stands_in_for="diffprivlib-tree",
            gives_probabilities=False,
            caveat="random tree: our version of DiffPrivLib's, in the place of the library itself.",
        ),
        Method(
            "privatree",
            "privatree (record-level)",
            PRIVATE,
            _make_privatree_method,
            regressor=_make_privatree_of_numbers,
            takes_sources=True,
            caveat="privatree (record-level): even the number of records is private. Its constants "
            "were chosen on 13 of the paper's datasets, so its figures there are a little too "
            "good.",
        ),
        Method(
            "privatree-robust",
            "privatree (robust)",
            PRIVATE,
            _make_privatree_robust_method,
            regressor=_make_privatree_robust_of_numbers,
            takes_sources=True,
            caveat="privatree (robust): the record-level learner with a fixed number of levels and "
            "equal budgets, somewhat less accurate, for stronger guarantees against poisoning.",
        ),
        Method(
            "privaboost",
            "privaboost",
            PRIVATE,
            _make_privaboost_method,
            regressor=_make_privaboost_of_numbers,
            takes_sources=True,
            delta=BOOST_DELTA,
            caveat=f"privaboost: a boosted ensemble with delta = {BOOST_DELTA:g}; even the number "
            "of records is private. Its constants were chosen on 12 of the paper's datasets, so "
            "its figures there are a little too good.",
            effort=3.0,
        ),
        Method(
            "privaboost-pure",
            "privaboost (pure)",
            PRIVATE,
            _make_privaboost_pure_method,
            regressor=_make_privaboost_pure_of_numbers,
            takes_sources=True,
            caveat="privaboost (pure): the same ensemble with delta = 0, and fewer rounds.",
            effort=2.0,
        ),
        Method(
            "diffprivlib-logistic",
            "DiffPrivLib LR",
            PRIVATE,
            _make_diffprivlib_logistic_method,
            encode=encode_method_numbers,
            requires="diffprivlib",
            caveat="DiffPrivLib LR: centre, scale and largest norm are read from the training "
            "records, outside its epsilon.",
        ),
        Method(
            "dp-ebm",
            "DP-EBM",
            PRIVATE,
            _make_dp_ebm_method,
            applies_to=method_needs_two_classes,
            requires="interpret",
            delta=EBM_DELTA,
            caveat=f"DP-EBM: with delta = {EBM_DELTA:g}; the number of records and the categories "
            "that occur are read from the training records, outside it. The library's defaults "
            "otherwise.",
            effort=8.0,
        ),
        *SURVEYED_PRIVATE,
    )
}
