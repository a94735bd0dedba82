"""The published methods of the paper's table of related work.

A method whose paper is about forests has an entry for a single tree, and one for the forest.
"""

from __future__ import annotations

from typing import Any

from privatree import baselines
from privatree.baselines.methods._method import (
    CLAIMED,
    PRIVATE,
    Method,
    Training,
    method_needs_categories,
)

SULQ_DELTA = 1e-6
"""Delta of SuLQ ID3."""


def _make_dpdf_method(training: Training) -> Any:
    return baselines.PublishedClassifier(baselines.DPDF(n_trees=1), **training.options)


def _make_dpdf_forest_method(training: Training) -> Any:
    return baselines.PublishedClassifier(baselines.DPDF(), **training.options)


def _make_smooth_random_method(training: Training) -> Any:
    return baselines.PublishedClassifier(baselines.SmoothRandomTrees(n_trees=1), **training.options)


def _make_smooth_random_forest_method(training: Training) -> Any:
    return baselines.PublishedClassifier(baselines.SmoothRandomTrees(), **training.options)


def _make_rana_forest_method(training: Training) -> Any:
    return baselines.PublishedClassifier(baselines.RanaForest(), **training.options)


def _make_sulq_id3_method(training: Training) -> Any:
    return baselines.PublishedClassifier(baselines.SuLQID3(), **training.options)


def _make_private_rdt_method(training: Training) -> Any:
    return baselines.PublishedClassifier(baselines.PrivateRDT(n_trees=1), **training.options)


def _make_private_rdt_forest_method(training: Training) -> Any:
    return baselines.PublishedClassifier(baselines.PrivateRDT(), **training.options)


def _make_sulq_based_id3_method(training: Training) -> Any:
    return baselines.PublishedClassifier(baselines.SuLQBasedID3(), **training.options)


def _make_diffpid3_method(training: Training) -> Any:
    return baselines.PublishedClassifier(baselines.DiffPID3(), **training.options)


def _make_diffp_c45_method(training: Training) -> Any:
    return baselines.PublishedClassifier(baselines.DiffPC45(), **training.options)


def _make_diffgen_method(training: Training) -> Any:
    return baselines.PublishedClassifier(baselines.DiffGen(), **training.options)


def _make_dt_diff_method(training: Training) -> Any:
    return baselines.PublishedClassifier(baselines.DTDiff(), **training.options)


def _make_dprf_method(training: Training) -> Any:
    return baselines.PublishedClassifier(baselines.DPRFMV(n_trees=1), **training.options)


def _make_dprfmv_method(training: Training) -> Any:
    return baselines.PublishedClassifier(baselines.DPRFMV(), **training.options)


def _make_dprfta_method(training: Training) -> Any:
    return baselines.PublishedClassifier(baselines.DPRFTA(), **training.options)


def _make_rana_method(training: Training) -> Any:
    return baselines.PublishedClassifier(baselines.RanaForest(n_trees=1), **training.options)


def _make_adiffp_method(training: Training) -> Any:
    return baselines.PublishedClassifier(baselines.ADiffP(), **training.options)


def _make_train_single_tree_method(training: Training) -> Any:
    return baselines.PublishedClassifier(baselines.TrainSingleTree(), **training.options)


SURVEYED_CLAIMED = (
    Method(
        "dpdf",
        "DPDF",
        CLAIMED,
        _make_dpdf_method,
        applies_to=method_needs_categories,
        claimed=True,
        effort=6.0,
        surveyed=True,
    ),
    Method(
        "dpdf-forest",
        "DPDF forest",
        CLAIMED,
        _make_dpdf_forest_method,
        applies_to=method_needs_categories,
        claimed=True,
        effort=24.0,
        surveyed=True,
    ),
    Method(
        "smooth-random",
        "Smooth Random Tree",
        CLAIMED,
        _make_smooth_random_method,
        claimed=True,
        gives_probabilities=False,
        surveyed=True,
    ),
    Method(
        "smooth-random-forest",
        "Smooth Random Trees",
        CLAIMED,
        _make_smooth_random_forest_method,
        claimed=True,
        effort=8.0,
        surveyed=True,
    ),
    Method(
        "rana-forest",
        "Rana forest",
        CLAIMED,
        _make_rana_forest_method,
        claimed=True,
        effort=6.0,
        surveyed=True,
    ),
)
"""Methods whose claim does not hold."""

SURVEYED_PRIVATE = (
    Method(
        "sulq-id3",
        "SuLQ ID3",
        PRIVATE,
        _make_sulq_id3_method,
        applies_to=method_needs_categories,
        delta=SULQ_DELTA,
        surveyed=True,
    ),
    Method(
        "private-rdt",
        "Private-RDT",
        PRIVATE,
        _make_private_rdt_method,
        surveyed=True,
    ),
    Method(
        "private-rdt-forest",
        "Private-RDT forest",
        PRIVATE,
        _make_private_rdt_forest_method,
        effort=2.0,
        surveyed=True,
    ),
    Method(
        "sulq-based-id3",
        "SuLQ-based ID3",
        PRIVATE,
        _make_sulq_based_id3_method,
        surveyed=True,
    ),
    Method(
        "diffpid3",
        "DiffPID3",
        PRIVATE,
        _make_diffpid3_method,
        applies_to=method_needs_categories,
        surveyed=True,
    ),
    Method(
        "diffp-c45",
        "DiffP-C4.5",
        PRIVATE,
        _make_diffp_c45_method,
        surveyed=True,
    ),
    Method(
        "diffgen",
        "DiffGen",
        PRIVATE,
        _make_diffgen_method,
        surveyed=True,
    ),
    Method(
        "dt-diff",
        "DT-Diff",
        PRIVATE,
        _make_dt_diff_method,
        surveyed=True,
    ),
    Method(
        "dprf",
        "dpRF tree",
        PRIVATE,
        _make_dprf_method,
        surveyed=True,
    ),
    Method(
        "dprfmv",
        "dpRFMV",
        PRIVATE,
        _make_dprfmv_method,
        surveyed=True,
    ),
    Method(
        "dprfta",
        "dpRFTA",
        PRIVATE,
        _make_dprfta_method,
        surveyed=True,
    ),
    Method(
        "rana",
        "Rana tree",
        PRIVATE,
        _make_rana_method,
        surveyed=True,
    ),
    Method(
        "adiffp",
        "ADiffP",
        PRIVATE,
        _make_adiffp_method,
        applies_to=method_needs_categories,
        surveyed=True,
    ),
    Method(
        "train-single-tree",
        "TrainSingleTree",
        PRIVATE,
        _make_train_single_tree_method,
        surveyed=True,
    ),
)
"""Methods whose claim holds; some cost less than they claim."""

TABLE_1 = (
    *("sulq-id3", "private-rdt", "private-rdt-forest", "sulq-based-id3", "diffpid3", "diffp-c45"),
    *("diffgen", "dt-diff", "dprf", "dprfmv", "dprfta", "dpdf", "dpdf-forest", "rana"),
    *("rana-forest", "smooth-random", "smooth-random-forest", "adiffp", "dpgdf", "bdpt"),
    *("train-single-tree", "random-tree", "privatree-paper", "privatree"),
)
"""The methods of the table, in its order, and our own learner."""
