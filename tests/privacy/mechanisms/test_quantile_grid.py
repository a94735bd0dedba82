"""Values to cells to intervals."""

from __future__ import annotations

import numpy as np

from privatree.privacy.mechanisms import ValueCounts
from privatree.privacy.mechanisms._quantile_grid import QuantileGrid

GRID = QuantileGrid(0.0, 10.0, 10)


def as_rows(grid: QuantileGrid, values) -> list[tuple[int, int, int]]:
    found = grid.intervals(values)
    columns = (found.starts.tolist(), found.widths.tolist(), found.positions.tolist())
    return list(zip(*columns, strict=True))


def test_a_value_on_an_edge_belongs_to_the_cell_on_its_left() -> None:
    assert GRID.sorted_cells(np.array([7.0, 6.5, 1.0, 0.0, 10.0])).tolist() == [0, 0, 6, 6, 9]


def test_values_outside_count_as_the_nearest_end_and_missing_ones_as_high() -> None:
    column = np.array([-9.0, -np.inf, 11.0, np.inf, np.nan])
    assert GRID.sorted_cells(column).tolist() == [0, 0, 9, 9, 9]


def test_a_cell_becomes_its_upper_end() -> None:
    assert GRID.edges([0, 4, 9]).tolist() == [1.0, 5.0, 10.0]


def test_intervals_hold_the_cells_up_to_the_next_value() -> None:
    column = np.array([3.0, 3.0, 2.5, 8.0])
    assert as_rows(GRID, column) == [(0, 2, 0), (2, 5, 3), (7, 3, 4)]
    assert GRID.intervals(column).rows == 4


def test_no_interval_is_empty() -> None:
    assert as_rows(GRID, np.array([])) == [(0, 10, 0)]
    assert as_rows(GRID, np.array([0.5, 10.0])) == [(0, 9, 1), (9, 1, 2)]


def test_counted_values_are_as_good_as_the_values() -> None:
    column = np.round(np.random.default_rng(0).uniform(-1.0, 11.0, 300), 1)
    counted = ValueCounts(*np.unique(column, return_counts=True))
    assert as_rows(GRID, counted) == as_rows(GRID, column)
