"""Compiled loops over binned records: the only code that reads one record after the other.

`weights` are whole numbers, or None if every record counts once. For None, numba compiles a loop of
its own without weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from privatree._support.kernels.compiling import compiled

_unsigned = np.uint64  # with an unsigned index the kernel does not test for negative values


@compiled
def count_records_by_code(
    codes: Any,
    labels: Any,
    weights: Any,
    starts: Any,
    first: Any,
    last: Any,
    offsets: Any,
    table: Any,
) -> None:
    """Add records to a table of counts: an array (node, class, code)."""
    n_features = _unsigned(codes.shape[1])
    node = 0
    for record in range(first, last):
        while record >= starts[node + 1]:
            node += 1
        row, record_codes = table[node, labels[record]], codes[record]
        step = 1 if weights is None else weights[record]
        for feature in range(n_features):
            row[_unsigned(offsets[feature]) + _unsigned(record_codes[feature])] += step


@compiled
def add_class_totals(labels: Any, weights: Any, start: Any, stop: Any, totals: Any) -> None:
    """Add the records from `start` to `stop` to the counts of their classes."""
    for record in range(start, stop):
        totals[labels[record]] += 1 if weights is None else weights[record]


@compiled
def add_target_sums(leaves: Any, targets: Any, weights: Any, table: Any, sums: Any) -> None:
    """Add, for each record, the row of a table of its target, times its weight, to its leaf."""
    for record in range(leaves.size):
        row, added = sums[leaves[record]], table[targets[record]]
        weight = np.int64(1) if weights is None else np.int64(weights[record])
        for column in range(added.size):
            row[column] += weight * added[column]


@compiled
def translate_codes(codes: Any, table: Any, first: Any, last: Any, translated: Any) -> None:
    """Look up each code in a table (feature, code), for the records from `first` to `last`."""
    n_features = _unsigned(codes.shape[1])
    for record in range(first, last):
        before, after = codes[record], translated[record]
        for feature in range(n_features):
            after[feature] = table[feature, _unsigned(before[feature])]


@compiled
def find_record_rows(codes: Any, start: Any, stop: Any, feature: Any, row_of_code: Any) -> Any:
    """Return the row of a table of counts to which each record of a node belongs."""
    rows = np.empty(stop - start, dtype=np.int32)
    for place in range(stop - start):
        rows[place] = row_of_code[codes[start + place, feature]]
    return rows


@compiled
def count_feature_pairs(
    codes: Any,
    labels: Any,
    weights: Any,
    start: Any,
    rows: Any,
    offsets: Any,
    table: Any,
    totals: Any,
) -> None:
    """Add the records of a node to a table of counts: an array (row of a feature, class, code)."""
    n_features = _unsigned(codes.shape[1])
    signed = table.shape[1] == 1
    for place in range(rows.size):
        label = labels[start + place]
        weight = np.int32(1) if weights is None else weights[start + place]
        totals[rows[place], label] += weight
        row, record_codes = table[rows[place], 0 if signed else label], codes[start + place]
        step = np.int32(-weight if signed and label == 0 else weight)
        for feature in range(n_features):
            row[_unsigned(offsets[feature]) + _unsigned(record_codes[feature])] += step


@compiled
def count_records_by_rows(
    codes: Any,
    labels: Any,
    weights: Any,
    records: Any,
    middle: Any,
    row_of_code: Any,
    offsets: Any,
    table: Any,
    totals: Any,
) -> None:
    """Add records to a table of counts: an array (group of codes of a feature, class, code)."""
    n_features = _unsigned(codes.shape[1])
    signed = table.shape[1] == 1
    for record in records:
        label, record_codes = labels[record], codes[record]
        weight = np.int32(1) if weights is None else weights[record]
        step = np.int32(-weight if signed and label == 0 else weight)
        for place in range(middle.size):
            group = row_of_code[place, codes[record, middle[place]]]
            totals[group, label] += weight
            row = table[group, 0 if signed else label]
            for feature in range(n_features):
                row[_unsigned(offsets[feature]) + _unsigned(record_codes[feature])] += step


@compiled
def find_record_children(
    codes: Any, starts: Any, features: Any, children: Any, first: Any, last: Any, found: Any
) -> None:
    """Write the child to which each record of a level goes; -1 where its node is a leaf."""
    node = 0
    for record in range(first, last):
        while record >= starts[node + 1]:
            node += 1
        feature = features[node]
        found[record] = children[node, codes[record, feature]] if feature >= 0 else -1


@compiled
def find_record_nodes(
    codes: Any, features: Any, split_of: Any, children: Any, places: Any, found: Any
) -> None:
    """Write the place of the node that each record reaches; -1 if its counts are not needed."""
    for record in range(found.size):
        node = 0
        while node >= 0 and features[node] >= 0:
            node = children[split_of[node], codes[record, features[node]]]
        found[record] = places[node] if node >= 0 else -1


@compiled
def count_records_of_nodes(found: Any, first: Any, last: Any, counts: Any) -> None:
    """Count the records that go to each node."""
    for record in range(first, last):
        if found[record] >= 0:
            counts[found[record]] += 1


@compiled
def move_records(
    codes: Any,
    labels: Any,
    weights: Any,
    targets: Any,
    found: Any,
    first: Any,
    last: Any,
    places: Any,
    new_codes: Any,
    new_labels: Any,
    new_weights: Any,
    new_targets: Any,
) -> None:
    """Copy records so that those of a node are adjacent; leave out those without a node."""
    n_features = codes.shape[1]
    for record in range(first, last):
        node = found[record]
        if node >= 0:
            place = places[node]
            places[node] += 1
            new_labels[place] = labels[record]
            if weights is not None:
                new_weights[place] = weights[record]
            if targets is not None:
                new_targets[place] = targets[record]
            for feature in range(n_features):
                new_codes[place, feature] = codes[record, feature]


@compiled
def count_cuts_below(values: Any, cuts: Any, codes: Any) -> None:
    """Write how many cuts lie below each value."""
    for record in range(values.size):
        value = values[record]
        low, length = 0, cuts.size
        while length > 0:  # halving without unpredictable branches
            half = (length + 1) >> 1
            low += half if cuts[low + half - 1] < value else 0
            length -= half
        codes[record] = low
