"""Compiled loops over the records of a boosted ensemble. `codes` are arrays (feature, record).

`weights` are whole numbers, or None if every record counts once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from privatree._support.kernels.compiling import compiled, compiled_inline

FINE_STEPS = 2**8
"""Number of fine steps in one code of a numeric target. Predictions are whole numbers of them."""

_unsigned = np.uint64  # with an unsigned index the kernel does not test for negative values


@compiled_inline
def _residual(target: Any, prediction: Any) -> Any:
    """Return the middle of a target code less the prediction, in fine steps of the target."""
    return np.int64(target) * FINE_STEPS + FINE_STEPS // 2 - prediction


@compiled
def add_round_signs(
    codes: Any,
    split_feature: Any,
    split_start: Any,
    goes_left: Any,
    step_feature: Any,
    step_start: Any,
    signs: Any,
    amounts: Any,
    first: Any,
    last: Any,
    scores: Any,
) -> None:
    """Add the function of each round to the scores of the records from `first` to `last`."""
    n_splits, n_scores = split_feature.shape[1], amounts.shape[1]
    for turn in range(split_feature.shape[0]):
        for record in range(first, last):
            place = 0
            while place < n_splits:
                feature = split_feature[turn, place]
                is_left = True
                if feature >= 0:
                    at = split_start[turn, place] + codes[feature, record]
                    is_left = goes_left[_unsigned(at)] != 0
                place = 2 * place + (1 if is_left else 2)
            end = place - n_splits
            at = step_start[turn, end] + codes[step_feature[turn, end], record]
            sign = signs[_unsigned(at)]
            for score in range(n_scores):
                scores[record, score] += sign * amounts[turn, score]


@compiled
def sign_two_classes(
    scores: Any, labels: Any, weights: Any, table: Any, first: Any, last: Any, signed: Any
) -> None:
    """Write the signed weight of each record with one of two classes.

    `table` has a weight for each margin, which is the score times the sign of the class.
    """
    middle = (len(table) - 1) // 2
    for record in range(first, last):
        sign = 1 if labels[record] == 1 else -1
        weight = sign * table[_unsigned(middle + sign * scores[record, 0])]
        signed[record] = weight if weights is None else weight * np.int64(weights[record])


@compiled
def sign_many_classes(
    scores: Any,
    labels: Any,
    weights: Any,
    powers: Any,
    code: Any,
    full: Any,
    twice_scale: Any,
    first: Any,
    last: Any,
    signed: Any,
) -> None:
    """Write the signed weight of each record with one of several classes.

    ``powers[k]`` stands for the exponential of a score that is k below the largest score. The
    weight is `twice_scale` / 4 of the difference between the sign of the record's class and the
    mean sign under the record's probabilities, clipped to 1, in parts of `full`. All steps are in
    whole numbers.
    """
    n_classes = len(code)
    for record in range(first, last):
        best = scores[record, 0]
        for place in range(1, n_classes):
            best = max(best, scores[record, place])
        total, towards = np.int64(0), np.int64(0)
        for place in range(n_classes):
            power = powers[_unsigned(best - scores[record, place])]
            total += power
            towards += code[place] * power
        error = code[labels[record]] * total - towards
        size = min(full, (twice_scale * full * abs(error) + 2 * total) // (4 * total))
        weight = size if error > 0 else -size
        signed[record] = weight if weights is None else weight * np.int64(weights[record])


@compiled
def sign_residuals(
    scores: Any,
    targets: Any,
    weights: Any,
    start: Any,
    scale: Any,
    full: Any,
    first: Any,
    last: Any,
    signed: Any,
) -> None:
    """Write the signed weight of each record with a numeric target.

    It is the residual of the target, in parts of `scale`, clipped to 1, in parts of `full`. All
    steps are in whole numbers.
    """
    for record in range(first, last):
        residual = _residual(targets[record], start + scores[record, 0])
        size = min(full, (2 * full * abs(residual) + scale) // (2 * scale))
        weight = size if residual > 0 else -size
        signed[record] = weight if weights is None else weight * np.int64(weights[record])


@compiled
def count_residuals(
    scores: Any, targets: Any, weights: Any, start: Any, ends: Any, counts: Any
) -> None:
    """Add each record to the first of the increasing `ends` that its residual is not above."""
    for record in range(scores.shape[0]):
        size = abs(_residual(targets[record], start + scores[record, 0]))
        place = 0
        while place < len(ends) - 1 and size > ends[place]:
            place += 1
        counts[place] += np.int64(1) if weights is None else np.int64(weights[record])


@compiled
def add_pair_sums(
    codes: Any,
    signed: Any,
    record_rows: Any,
    first_row: Any,
    features: Any,
    offsets: Any,
    block: Any,
    table: Any,
) -> None:
    """Add signed weights to a table of sums (row, code), for the codes of some features.

    `record_rows` has the row of each record, counted from `first_row`. `block` is room for the
    sums of one feature: an array (row, code).
    """
    n_rows = block.shape[0]
    for place in range(len(features)):
        feature = features[place]
        start = offsets[feature]
        n_codes = offsets[feature + 1] - start
        block[:, :n_codes] = 0
        feature_codes = codes[feature]
        for record in range(_unsigned(len(signed))):
            row, code = _unsigned(record_rows[record]), _unsigned(feature_codes[record])
            block[row, code] += signed[record]
        for place_of_row in range(n_rows):
            for place_of_code in range(n_codes):
                more = block[place_of_row, place_of_code]
                table[first_row + place_of_row, start + place_of_code] += more


@compiled
def find_record_rows_of_feature(feature_codes: Any, row_of_code: Any, rows: Any) -> None:
    """Write the row of each record by the code of one feature."""
    for record in range(_unsigned(len(rows))):
        rows[record] = row_of_code[_unsigned(feature_codes[record])]


@compiled
def keep_left_records(feature_codes: Any, goes_left: Any, signed: Any, kept: Any) -> None:
    """Write the signed weights of the records that go left, and 0 for the others."""
    for record in range(_unsigned(len(signed))):
        kept[record] = signed[record] if goes_left[_unsigned(feature_codes[record])] else 0
