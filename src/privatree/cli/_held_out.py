"""Records that ``certify`` holds out for the test."""

from __future__ import annotations

from typing import Any

from privatree.errors import ParameterError


def number_groups(records: Any) -> Any:
    """Return the number of each record's unit, -1 without an id; each record's own without units.

    The records of a unit must be together in the training or in the test.
    """
    import numpy as np

    from privatree.tables import read_arrow_column, read_unit_ids

    if records.units is None:
        return np.arange(len(records.labels))
    return read_unit_ids(read_arrow_column(records.units)).places


def number_to_hold_out(n_groups: int, test_share: float, counted: str) -> int:
    n_test = round(test_share * n_groups)
    if not 0 < n_test < n_groups:
        raise ParameterError(
            f"--test-share must leave {counted} for training and for the test, but takes {n_test} "
            f"of {n_groups} {counted}. Choose another share."
        )
    return n_test


def split_records(
    records: Any, groups: Any, n_test: int, split_seed: int
) -> tuple[Any, Any, Any, Any]:
    """Return training features, test features, training labels and test labels."""
    import numpy as np
    from sklearn.utils import check_random_state

    n_groups = int(groups.max()) + 1
    place = np.full(n_groups + 1, n_groups)  # a record without an id finds the last: for training
    place[check_random_state(split_seed).permutation(n_groups)] = np.arange(n_groups)
    order = np.argsort(place[groups], kind="stable")
    n_held_out = int(np.sum(place[groups] < n_test))
    test, train = order[:n_held_out], order[n_held_out:]
    return (
        records.features.take(train),
        records.features.take(test),
        records.labels.take(train),
        records.labels.take(test),
    )


def drop_missing_targets(X: Any, y: Any) -> tuple[Any, Any, list[str]]:
    """Return the test records whose target is a finite number, and a note if there are others."""
    import numpy as np
    import pyarrow as pa

    from privatree.tables import read_target

    targets = read_target(y)
    known = np.isfinite(targets)
    n_missing = int(np.sum(~known))
    if n_missing == 0:
        return X, targets, []
    have = "has" if n_missing == 1 else "have"
    note = f"{n_missing} of {len(targets)} test records {have} no number as target; left out."
    return X.filter(pa.array(known)), targets[known], [note]
