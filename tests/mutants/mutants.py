"""Wrong versions of the learner, of its weights, of the readers of files, and of compositions, each
a small change of the real code (``wrong_code.py``, ``wrong_weights.py``, ``wrong_reading.py``,
``wrong_composition.py``, ``wrong_scores.py``).

A privacy bug is invisible in accuracy. Each of these was made by somebody once, or nearly; each
says which nets catch it, at which of their cases, with how much, and for what reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import pytest
import wrong_code
import wrong_composition
import wrong_ensembles
import wrong_holdout
import wrong_reading
import wrong_regression
import wrong_scores
import wrong_weights


class Catch(NamedTuple):
    """Which net must catch a mutant, and how."""

    net: str
    case: str
    """Of the net's cases."""
    at_least: float
    """The report's figure."""
    reason: str
    """What the report says."""


@dataclass(frozen=True)
class Mutant:
    """A wrong version of the learner.

    Parameters
    ----------
    wrong : str
        What is wrong, in words.
    apply : callable
        Changes the code, through a MonkeyPatch, which takes it back.
    catches : tuple of Catch
        The nets that must catch it.
    """

    wrong: str
    apply: Callable[[pytest.MonkeyPatch], None]
    catches: tuple[Catch, ...]


SPLIT = "split, by itself"
WHOLE = "the whole learner"
UNCOVERED = "the account does not cover the loss"

MUTANTS: dict[str, Mutant] = {
    "exponent doubled": Mutant(
        "weights are exp(2 rate score)",
        wrong_code.exponent_doubled,
        (
            Catch("loss", "one split", 1.9, WHOLE),
            Catch("loss", "two levels together", 1.99, WHOLE),
            Catch("stage", "a split", 1.99, SPLIT),
        ),
    ),
    "full budget at every level": Mutant(
        "a child has what its parent had before it was split",
        wrong_code.full_budget_at_every_level,
        (
            Catch("ledger", "one by one", 1.5, "the account refuses"),
            Catch("loss", "one by one", 1.4, WHOLE),
        ),
    ),
    "purity stop": Mutant(
        "a node of one class becomes a leaf",
        wrong_code.purity_stop,
        (
            Catch("decision", "one class", math.inf, "next stage: which outcomes are possible"),
            Catch("black box", "pure", 1.5, "tree"),
        ),
    ),
    "argmax leaf labels": Mutant(
        "the label is the exact majority",
        wrong_code.argmax_leaf_labels,
        (
            Catch("decision", "last level", math.inf, "subtree: which outcomes are possible"),
            Catch("black box", "alike", 1.5, "predictions"),
        ),
    ),
    "categories ordered by exact counts": Mutant(
        "categories are put in order, then cut like numbers",
        wrong_code.categories_ordered_by_exact_counts,
        (Catch("decision", "categories", math.inf, "split: which outcomes are possible"),),
    ),
    "full budget per feature": Mutant(
        "every feature's cut is drawn with the whole budget, then one of them",
        wrong_code.full_budget_per_feature,
        (Catch("stage", "a split", 1.8, SPLIT),),
    ),
    "a split drawn twice": Mutant(
        "a split is drawn once more than was paid for, and the better one kept",
        wrong_code.a_split_drawn_twice,
        (Catch("stage", "a split", 2.4, SPLIT),),
    ),
    "range from the data": Mutant(
        "candidate cuts lie between the smallest and the largest value",
        wrong_code.range_from_the_data,
        (
            Catch("fit", "an outlier", 2, "candidates"),
            Catch("black box", "outlier", 1.5, "threshold"),
        ),
    ),
    "noise shared by siblings": Mutant(
        "both children draw from the same random bits",
        wrong_code.noise_shared_by_siblings,
        (Catch("sampler", "robust", 2.0, "trees do not have the exact law"),),
    ),
    "prior q from exact counts": Mutant(
        "the score of a split is centred on the exact share of a class",
        wrong_code.prior_q_from_exact_counts,
        (
            Catch("stage", "a split", 1.9, SPLIT),
            Catch("decision", "one split", math.inf, "next stage: what follows an outcome"),
        ),
    ),
    "exact n in the formula for q": Mutant(
        "the score of a split is centred on a noisy count over the exact number of records",
        wrong_code.exact_n_in_q,
        (
            Catch("stage", "a split", 1.89, SPLIT),
            Catch("decision", "one by one", math.inf, "next stage: what follows an outcome"),
        ),
    ),
    "stop shares from exact n": Mutant(
        "the base measure of a subtree depends on the exact number of records",
        wrong_code.stop_shares_from_exact_n,
        (Catch("decision", "one feature", math.inf, "next stage: what follows an outcome"),),
    ),
    "leaf counts from exact n": Mutant(
        "the exact number of records decides whether leaves are counted",
        wrong_code.leaf_counts_from_exact_n,
        (Catch("decision", "leaf counts", math.inf, "number of records: what follows"),),
    ),
    "stop from exact n": Mutant(
        "the training stops if the exact number of records is too small",
        wrong_code.stop_from_exact_n,
        (Catch("decision", "early stop", math.inf, "number of records: what follows"),),
    ),
    "zoom by the exact range": Mutant(
        "cuts lie around the narrowest interval that has every record",
        wrong_code.zoom_by_exact_range,
        (Catch("decision", "zoom", math.inf, "number of records: what follows an outcome"),),
    ),
    "interval at twice the rate": Mutant(
        "the score of an interval is taken to change by one half",
        wrong_code.interval_at_twice_the_rate,
        (Catch("stage", "zoom", 1.9, "interval of x, depth 0"),),
    ),
    "probabilities from exact counts": Mutant(
        "a leaf without noisy counts has the exact shares of its classes",
        wrong_code.probabilities_from_exact_counts,
        (Catch("decision", "last level", math.inf, "subtree: which outcomes are possible"),),
    ),
    "depth from exact n": Mutant(
        "the number of levels is planned with the exact number of records",
        wrong_code.depth_from_exact_n,
        (
            Catch("decision", "noisy size", math.inf, "number of records: what follows"),
            Catch("black box", "size-threshold", 1.5, "tree"),
        ),
    ),
    "count noise halved": Mutant(
        "noise of twice the epsilon that is paid",
        wrong_code.count_noise_halved,
        (Catch("stage", "one split", 1.99, "class counts before a split"),),
    ),
    "stop prior mismatched": Mutant(
        "one prior share of stopping in the weights of upper levels, another in the draw below",
        wrong_code.stop_prior_mismatched,
        (Catch("loss", "one feature", 1.1, WHOLE),),
    ),
    "candidates restricted to the region in the draw but not in the weights": Mutant(
        "weights of upper levels count on cuts that the children do not have",
        wrong_code.candidates_restricted_in_the_draw_only,
        (Catch("loss", "one feature", 1.2, WHOLE),),
    ),
    "ledger records less than was spent": Mutant(
        "half of each spend stands in the account",
        wrong_code.ledger_records_less,
        (Catch("ledger", "one split", 1.9, UNCOVERED),),
    ),
}

READING_MUTANTS: dict[str, Mutant] = {
    "quotes span lines": Mutant(
        "a quote that is opened on one line is closed on another",
        wrong_reading.quotes_span_lines,
        (Catch("files", "open-quote", 1.5, "predictions"),),
    ),
    "nothing is read after a NUL": Mutant(
        "text ends at the first zero byte",
        wrong_reading.nothing_is_read_after_a_nul,
        (Catch("files", "odd-bytes", 1.5, "predictions"),),
    ),
    "a byte that is no text is an error": Mutant(
        "a file must be UTF-8",
        wrong_reading.a_byte_that_is_no_text_is_an_error,
        (Catch("files", "odd-bytes", 1.5, "errors"),),
    ),
    "a ragged line is an error": Mutant(
        "every line must have as many values as the first",
        wrong_reading.a_ragged_line_is_an_error,
        (Catch("files", "ragged-line", 1.5, "errors"),),
    ),
    "a folder's name is taken for text": Mutant(
        "the name of a partition's folder must be UTF-8",
        wrong_reading.a_folders_name_is_taken_for_text,
        (Catch("files", "odd-folder", 1.5, "errors"),),
    ),
    "one text makes a column of text": Mutant(
        "numbers beside a value that is none are missing",
        wrong_reading.one_text_makes_a_column_of_text,
        (Catch("files", "text-in-numbers", 1.5, "predictions"),),
    ),
    "range from the file": Mutant(
        "numbers are rounded to steps of the range that a file has",
        wrong_reading.range_from_the_file,
        (Catch("files", "new-values", 1.5, "predictions"),),
    ),
    "categories from the file": Mutant(
        "categories are those that a file has, in order",
        wrong_reading.categories_from_the_file,
        (Catch("files", "new-values", 1.5, "predictions"),),
    ),
}

HEAVIER = "the unit's records lose more than epsilon"
TOO_HEAVY = "a unit weighs more than a record"

WEIGHT_MUTANTS: dict[str, Mutant] = {
    "weights not scaled": Mutant(
        "every record of a unit weighs as much as a record",
        wrong_weights.weights_not_scaled,
        (
            Catch("unit loss", "joint", 2.9, HEAVIER),
            Catch("unit loss", "one by one", 2.9, HEAVIER),
            Catch("weights", "units of 1 to 6 records", 6, TOO_HEAVY),
            Catch("weights", "sample weights", 1.2, TOO_HEAVY),
            Catch("black box", "one-person", 1.5, "tree"),
        ),
    ),
    "fewer records counted than weighed": Mutant(
        "a record can be unusable where a unit's records are counted, and usable elsewhere",
        wrong_weights.fewer_records_are_counted_than_weighed,
        (Catch("weights", "labels of several types", 2.9, TOO_HEAVY),),
    ),
    "weights made per node": Mutant(
        "the records of a unit weigh as much as a record in every node",
        wrong_weights.weights_made_per_node,
        (
            Catch("unit loss", "one by one", 1.2, HEAVIER),
            Catch("unit loss", "joint", 1.9, HEAVIER),
        ),
    ),
    "ids hashed to two bits": Mutant(
        "units with the same hash share their weight",
        wrong_weights.ids_hashed,
        (Catch("weights", "units of 1 to 6 records", math.inf, "changes what others weigh"),),
    ),
    "weights rounded up": Mutant(
        "the shares of a unit are rounded up",
        wrong_weights.weights_rounded_up,
        (
            Catch("weights", "units of 1 to 6 records", 1.0001, TOO_HEAVY),
            Catch("unit loss", "four records", 1.3, HEAVIER),
        ),
    ),
    "noise for a weight of one": Mutant(
        "the noise is that of sums that change by one",
        wrong_weights.noise_for_a_weight_of_one,
        (Catch("unit loss", "one by one", 1.2, HEAVIER),),
    ),
    "rate for a weight of one": Mutant(
        "the scores of splits and subtrees are taken to change by one",
        wrong_weights.rate_for_a_weight_of_one,
        (
            Catch("unit loss", "one by one", 5.5, HEAVIER),
            Catch("unit loss", "joint", 5.9, HEAVIER),
        ),
    ),
    "interval for a weight of one": Mutant(
        "the score of an interval is taken to change by one",
        wrong_weights.interval_for_a_weight_of_one,
        (Catch("unit loss", "zoom", 1.1, HEAVIER),),
    ),
    "balanced by exact counts": Mutant(
        "balanced class weights follow from exact class counts",
        wrong_weights.balanced_by_exact_counts,
        (Catch("unit loss", "balanced", math.inf, "which outcomes are possible"),),
    ),
    "class factors above the full factor": Mutant(
        "a class weighs twice as much as a record",
        wrong_weights.factors_above_the_full_factor,
        (
            Catch("unit loss", "class factors", 1.9, HEAVIER),
            Catch("unit loss", "balanced", 1.9, HEAVIER),
        ),
    ),
}

LOSES_MORE = "draws that were certified lose more than delta"

COMPOSITION_MUTANTS: dict[str, Mutant] = {
    "range halved": Mutant(
        "a draw is taken to have half its range",
        wrong_composition.range_halved,
        tuple(
            Catch("composition", case, at_least, LOSES_MORE)
            for case, at_least in {"one draw": 20, "rounds": 500, "replaced": 100}.items()
        ),
    ),
    "uncertified end of the search": Mutant(
        "the search gives the range that was too large",
        wrong_composition.other_end_of_the_search,
        tuple(
            Catch("composition", case, math.inf, "the ledger refuses what the search found")
            for case in ("one draw", "rounds", "replaced")
        ),
    ),
    "grid rounded down": Mutant(
        "a range that is not on the grid becomes smaller",
        wrong_composition.grid_rounded_down,
        (Catch("composition", "intervals first", 1.5, LOSES_MORE),),
    ),
    "rounds not counted": Mutant(
        "the ledger makes more draws than were charged for",
        wrong_composition.rounds_not_counted,
        (
            Catch("composition", "one draw", 9, "more draws"),
            Catch("composition", "rounds", 80, "more draws"),
        ),
    ),
    "draws in any order": Mutant(
        "a draw may have the range of another draw",
        wrong_composition.any_order,
        (Catch("composition", "intervals first", 100, "draws of larger range"),),
    ),
    "a replaced record priced once": Mutant(
        "draws are certified for one record added or removed where one is replaced",
        wrong_composition.replaced_priced_once,
        (Catch("composition", "replaced", 10, LOSES_MORE),),
    ),
}

ROUND = "a round exceeds its range"
DECIDED = "records decide what is possible"

ENSEMBLE_MUTANTS: dict[str, Mutant] = {
    "range of a round halved": Mutant(
        "a score is taken to change by one full weight, and changes by two",
        wrong_ensembles.range_halved,
        (
            Catch("round", "a step", 1.99, ROUND),
            Catch("ensemble loss", "two rounds", 1.9, "the whole learner"),
        ),
    ),
    "range of a round for a weight of one": Mutant(
        "a score is taken to change as if a record weighed one",
        wrong_ensembles.range_of_a_weight_of_one,
        (Catch("round", "a unit", 5.9, ROUND),),
    ),
    "weights not clipped": Mutant(
        "a record that is badly fitted counts for more than a full weight",
        wrong_ensembles.weights_not_clipped,
        (Catch("round", "a step", 1.2, ROUND),),
    ),
    "weights normalised": Mutant(
        "the weights of all records add up to the same number, whoever is among them",
        wrong_ensembles.weights_normalised,
        (Catch("round", "one record", 3.9, ROUND),),
    ),
    "margins from the best function": Mutant(
        "weights follow from a function that was not released",
        wrong_ensembles.margins_from_the_best_function,
        (Catch("ensemble loss", "an even table", 1.1, "the whole learner"),),
    ),
    "rounds from exact n": Mutant(
        "the number of rounds is planned with the exact number of records",
        wrong_ensembles.rounds_from_exact_n,
        (Catch("ensemble loss", "noisy size", math.inf, DECIDED),),
    ),
    "step from exact n": Mutant(
        "the step of the ensemble follows from the exact number of records",
        wrong_ensembles.step_from_exact_n,
        (Catch("ensemble loss", "two rounds", math.inf, DECIDED),),
    ),
    "residuals not clipped": Mutant(
        "a record whose target is far from the prediction counts for more than a full weight",
        wrong_ensembles.residuals_not_clipped,
        (Catch("ensemble loss", "a target", 1.3, WHOLE),),
    ),
    "start from the exact mean": Mutant(
        "predictions begin at the exact mean of the target",
        wrong_ensembles.start_from_the_exact_mean,
        (Catch("ensemble loss", "a target", math.inf, DECIDED),),
    ),
    "scale from exact residuals": Mutant(
        "the scale of residuals follows from the residuals themselves",
        wrong_ensembles.scale_from_exact_residuals,
        (Catch("ensemble loss", "a target", math.inf, DECIDED),),
    ),
    "root measure from the data": Mutant(
        "the base measure of a root depends on the records on its left",
        wrong_ensembles.root_measure_from_the_data,
        (Catch("round", "a root", 1.1, ROUND),),
    ),
    "class code from the data": Mutant(
        "the largest class is drawn for against the rest",
        wrong_ensembles.class_code_from_the_data,
        (Catch("ensemble loss", "three classes", math.inf, DECIDED),),
    ),
    "measure of terms from the data": Mutant(
        "the interval that the ensemble keeps for its terms is that of the records",
        wrong_ensembles.measure_from_the_data,
        (Catch("ensemble loss", "a number", math.inf, DECIDED),),
    ),
    "range of a round not certified": Mutant(
        "the range of a round is a third larger than what can be certified",
        wrong_ensembles.range_not_certified,
        (Catch("ensemble ledger", "composed rounds", math.inf, "the account refuses"),),
    ),
    "range of a round that nobody certifies": Mutant(
        "the same, and the account believes it",
        wrong_ensembles.range_that_nobody_certifies,
        (Catch("ensemble delta", "two rounds", 1.5, "delta is larger"),),
    ),
    "intervals outside the composition": Mutant(
        "intervals are drawn from another account",
        wrong_ensembles.intervals_outside_the_composition,
        (Catch("ensemble ledger", "zoom", math.inf, UNCOVERED),),
    ),
    "no charge for a round": Mutant(
        "rounds are drawn, and not charged",
        wrong_ensembles.no_charge_for_a_round,
        (Catch("ensemble ledger", "two rounds", math.inf, UNCOVERED),),
    ),
}

REGRESSION_MUTANTS: dict[str, Mutant] = {
    "levels from the data": Mutant(
        "the levels lie between the smallest and the largest target",
        wrong_regression.levels_from_the_data,
        (Catch("regression loss", "an interval", 1.1, "number of records: "),),
    ),
    "knots kept by exact counts": Mutant(
        "exact sums decide whether a knot far away counts",
        wrong_regression.knots_kept_by_exact_counts,
        (Catch("regression loss", "a leaf", 1.1, "leaf: which outcomes are possible"),),
    ),
    "sensitivity of a level sum halved": Mutant(
        "a record is taken to change the level sums by half of what it does",
        wrong_regression.sensitivity_of_level_sums_halved,
        (Catch("regression loss", "level sums", 1.7, "level sums before a split"),),
    ),
    "rate not divided by the range": Mutant(
        "a record is taken to change the score of a subtree by one level",
        wrong_regression.rate_not_divided_by_the_range,
        (Catch("regression loss", "a last level", 6.0, "last level with values"),),
    ),
    "target coded by the data": Mutant(
        "the codes divide the range from the smallest to the largest target",
        wrong_regression.target_coded_by_the_data,
        (Catch("target codes", "targets that are added at the end", 1.5, WHOLE),),
    ),
}

BOTH_PARTS = "more than the larger epsilon"

HOLDOUT_MUTANTS: dict[str, Mutant] = {
    "dealt by position": Mutant(
        "every second record is held out, so one more record on top moves all others",
        wrong_holdout.dealt_by_position,
        (Catch("holdout loss", "equal epsilons", 2.5, BOTH_PARTS),),
    ),
    "dealt in fixed sizes": Mutant(
        "half of the records are held out, so one more record can move another",
        wrong_holdout.dealt_in_fixed_sizes,
        (Catch("holdout loss", "equal epsilons", 1.5, BOTH_PARTS),),
    ),
    "held out and trained on": Mutant(
        "the model is trained on all records, also on those that are held out",
        wrong_holdout.held_out_and_trained_on,
        (
            Catch("holdout loss", "equal epsilons", 1.5, BOTH_PARTS),
            Catch("holdout loss", "a record replaced", 1.3, BOTH_PARTS),
        ),
    ),
    "trained on and scored": Mutant(
        "the model is scored with all records, also with those that it was trained on",
        wrong_holdout.trained_on_and_scored,
        (
            Catch("holdout loss", "equal epsilons", 1.3, BOTH_PARTS),
            Catch("holdout loss", "a record replaced", 1.2, BOTH_PARTS),
        ),
    ),
}

SCORE_MUTANTS: dict[str, Mutant] = {
    "noise on rates": Mutant(
        "shares get noise in place of counts, and n is taken to be public",
        wrong_scores.noise_on_rates,
        (Catch("score loss", "predictions", 1.5, "decide what is drawn"),),
    ),
    "noise of half the scale": Mutant(
        "each table is drawn at twice its epsilon",
        wrong_scores.noise_of_half_the_scale,
        (
            Catch("score loss", "leaves", 1.99, "more than epsilon"),
            Catch("score loss", "numbers", 1.99, "more than epsilon"),
        ),
    ),
    "each table for the whole epsilon": Mutant(
        "both tables are drawn at epsilon, as if they were of disjoint records",
        wrong_scores.each_table_for_the_whole_epsilon,
        (Catch("score loss", "leaves and predictions", 1.99, "more than epsilon"),),
    ),
    "weights of units ignored": Mutant(
        "each record of a unit weighs as much as a unit",
        wrong_scores.weights_of_units_ignored,
        (
            Catch("score loss", "units", 2.99, "more than epsilon"),
            Catch("score loss", "units of numbers", 1.99, "more than epsilon"),
        ),
    ),
    "one cell of all classes": Mutant(
        "a record is taken to be in the table of one class only",
        wrong_scores.one_cell_of_all_classes,
        (Catch("score loss", "against the rest", 2.1, "more than epsilon"),),
    ),
    "limit from exact errors": Mutant(
        "the largest error decides which knots there are",
        wrong_scores.limit_from_exact_errors,
        (Catch("score loss", "numbers", 1.5, "more than epsilon"),),
    ),
}
