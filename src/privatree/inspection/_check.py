"""Find values that do not fit a schema, for the owner of the records. **This leaks.**

Training never uses this module: it accepts values that do not fit, and says nothing. Here they are
counted and shown, so that a misspelt label or a mixed-up unit of measurement is found before
training.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree._support.suggestions import did_you_mean
from privatree._support.validation import check_same_length
from privatree.errors import SchemaError
from privatree.inspection._check_result import Misfit, SchemaCheck
from privatree.inspection._column_check import LEFT_OUT, column_misfits, misfit_count
from privatree.inspection._unit_sizes import UnitCounter, sounds_like_units
from privatree.schema import Categorical, Feature, Schema
from privatree.sources import (
    DataFile,
    check_column_type,
    check_file_unit_type,
    open_file,
    target_as_feature,
    trim_column_names,
    wanted_columns,
)
from privatree.tables import (
    ColumnType,
    LazyColumn,
    Table,
    are_class_codes,
    arrow_column_type,
    check_feature_type,
    check_label_type,
    check_unit_type,
    count_text_labels_with_blanks,
    is_instance_by_name,
    label_codes,
    open_frame,
    open_labels,
    read_arrow_column,
    read_labels,
)

_CLASS_CODES = (
    "whole numbers, but the classes are text: fit reads them as class codes 0, 1, ..., which "
    "ensembles pass, and predicts numbers. Pass the labels as text."
)
_NO_UNIT = "not in X, but it is the unit: fit needs a column of this name, or the ids as units=."


def check_files_against_schema(files: Sequence[Path], schema: Schema, target: str) -> SchemaCheck:
    """Check all records in files against a schema. **This leaks.**

    `files` are as :func:`~privatree.sources.find_files` lists them. An error is raised if a file
    cannot be read or has no column of the schema, or if the target is a feature.
    """
    wanted = wanted_columns(schema, target)
    counted: dict[tuple[str, str], Counter[str]] = {}
    whole: dict[Misfit, None] = {}
    result = SchemaCheck(schema)
    units: dict[str, UnitCounter] = {}
    for path in files:
        file = open_file(path, schema.csv)
        positions, problems = _find_file_columns_to_check(file, wanted, target, result)
        whole |= dict.fromkeys(problems)
        ids = _file_columns_of_ids(file, positions, schema, target)
        counters = [(at, units.setdefault(name, UnitCounter())) for name, at in ids.items()]
        positions.pop(schema.unit or "", None)
        for name, what, examples in _file_misfits(
            file, positions, wanted, target, result, counters
        ):
            counted.setdefault((name, what), Counter()).update(examples)
    found = [
        Misfit(name, what, *misfit_count(examples)) for (name, what), examples in counted.items()
    ]
    result.misfits = _sort_misfits([*whole, *found], wanted)
    result.ignored = list(dict.fromkeys(result.ignored))
    result.trimmed = {name: n for name, n in result.trimmed.items() if n}
    _count_usable_records(result, target)
    _add_unit_sizes(result, units)
    return result


def _count_usable_records(result: SchemaCheck, target: str) -> None:
    """Set ``result.n_usable``, unless the labels could not be checked."""
    of_labels = [misfit for misfit in result.misfits if misfit.column == target]
    n_left_out = _count_left_out(of_labels)
    if n_left_out is not None:
        result.n_usable = result.n_records - result.n_ragged - n_left_out


def _count_left_out(of_labels: Sequence[Misfit]) -> int | None:
    """Return how many records are left out for their label; None if labels were not checked."""
    if any(misfit.records is None for misfit in of_labels):
        return None
    return sum(misfit.records or 0 for misfit in of_labels if misfit.what.endswith(LEFT_OUT))


def _add_unit_sizes(result: SchemaCheck, counters: Mapping[str, UnitCounter]) -> None:
    """Add what was counted: the units of the schema, or columns that may be units."""
    declared = counters.get(result.schema.unit or "")
    if declared is None or result.schema.unit is None:
        result.possible_units = [
            counter.sizes(name) for name, counter in counters.items() if counter.may_be_units(name)
        ]
        return
    result.units = declared.sizes(result.schema.unit)
    if declared.n_without_id:
        result.misfits.append(Misfit(result.schema.unit, "no id: left out", declared.n_without_id))
    if result.n_usable is not None:
        result.n_usable = declared.n_records


def check_frame_against_schema(X: Any, y: Any, schema: Schema) -> SchemaCheck:
    """Check all records of a frame against a schema: :meth:`Schema.check`. **This leaks.**"""
    if is_instance_by_name(X, "privatree.sources._source.Source"):
        raise TypeError(
            f"X must be in memory, got a {type(X).__name__}. The command privatree schema check "
            "reads files of any size."
        )
    table = open_frame(X, allow_repeats=True)
    labels = None if y is None else open_labels(y)
    if labels is not None:
        check_same_length(table.n_rows, labels.n_rows)
    result = SchemaCheck(schema, n_records=table.n_rows)
    positions, found = _find_frame_columns_to_check(table, schema, result)
    for name, position in positions.items():
        feature, has_names = schema.features[name], table.names is not None
        check = partial(check_feature_type, name, feature=feature, of_a_frame=has_names)
        found += _frame_column_misfits(name, table.columns[position], feature, check)
    result.misfits = _sort_misfits(found, schema.features)
    if labels is not None:
        (column,) = labels.columns
        if schema.target is None and are_class_codes(column.type, schema.classes):
            result.misfits.append(Misfit("y", _CLASS_CODES))
            _count_frame_units(table, None, result)
            return result
        check = partial(check_label_type, "y", schema=schema)
        of_labels = _frame_column_misfits(
            "y", column, target_as_feature(schema), check, is_target=True
        )
        n_left_out = _count_left_out(of_labels)
        if n_left_out is not None:
            result.n_usable = result.n_records - n_left_out
        result.misfits += of_labels
    known = None if labels is None or result.n_usable is None else read_labels(labels, schema) >= 0
    _count_frame_units(table, known, result)
    return result


def _count_frame_units(table: Table, usable: NDArray[np.bool_] | None, result: SchemaCheck) -> None:
    """Count the records of each unit of a frame, or of columns that may be units."""
    names, unit = table.names or [], result.schema.unit
    if unit is not None and names.count(unit) != 1:
        if table.has_shape:
            result.misfits.append(Misfit(unit, _NO_UNIT))
        return
    counters: dict[str, UnitCounter] = {}
    for name in [unit] if unit is not None else sounds_like_units(names):
        column = table.columns[names.index(name)]
        try:
            check_unit_type(f"column {name!r}", column.type)
        except SchemaError as error:
            if unit is not None:
                result.misfits.append(Misfit(unit, str(error)))
            continue
        counters[name] = UnitCounter()
        counters[name].add(column.read(), usable)
    _add_unit_sizes(result, counters)


def _sort_misfits(misfits: Iterable[Misfit], names: Iterable[str]) -> list[Misfit]:
    """Sort misfits in the order of column names; other columns come last."""
    order = {name: place for place, name in enumerate(names)}
    return sorted(misfits, key=lambda misfit: order.get(misfit.column, len(order)))


# --- reading ------------------------------------------------------------------------------------


def _find_file_columns_to_check(
    file: DataFile, wanted: Mapping[str, Feature], target: str, result: SchemaCheck
) -> tuple[dict[str, int], list[Misfit]]:
    """Return the positions of columns whose types fit, and the misfits of all other columns."""
    hint = file.hint_if_not_found or (file.hint_if_none_found and " Its first row must name them.")
    unit = result.schema.unit
    needed = [*wanted, *([] if unit is None else [unit])]
    names = trim_column_names(file.names, needed)
    positions, problems = _match_checked_names(str(file.path), names, needed, result, hint)
    for name, position in list(positions.items()):
        try:
            if name == unit:
                check_file_unit_type(file, name, position)
            elif not file.is_text(position):
                kind = arrow_column_type(file.arrow_type(position))
                check_column_type(file.path, name, kind, wanted[name], is_target=name == target)
        except SchemaError as error:
            problems.append(Misfit(name, str(error)))
            del positions[name]
    return positions, problems


def _file_columns_of_ids(
    file: DataFile, positions: Mapping[str, int], schema: Schema, target: str
) -> dict[str, int]:
    """Return the position of the unit; without a unit, of columns that sound like one."""
    if schema.unit is not None:
        return {name: at for name, at in positions.items() if name == schema.unit}
    names = trim_column_names(file.names, schema.features)
    found = {name: names.index(name) for name in sounds_like_units(names) if name != target}
    for name, position in list(found.items()):
        try:
            check_file_unit_type(file, name, position)
        except SchemaError:
            del found[name]
    return found


def _file_misfits(
    file: DataFile,
    positions: Mapping[str, int],
    wanted: Mapping[str, Feature],
    target: str,
    result: SchemaCheck,
    counters: Sequence[tuple[int, UnitCounter]],
) -> Iterator[tuple[str, str, Mapping[str, int]]]:
    """Yield column, misfit and value counts for each batch of rows, and count units.

    `counters` are for ids, with the positions of their columns.
    """
    is_valid = file.has_valid_names
    places = list(dict.fromkeys((*positions.values(), *(at for at, _ in counters))))
    for rows in file.read_rows(places):
        is_valid &= rows.is_valid
        result.n_records += rows.n_rows
        result.n_ragged += rows.n_ragged
        contents = dict(zip(places, rows.columns_without_ragged_rows(), strict=True))
        usable = None
        for name, position in positions.items():
            content = contents[position]
            feature, text = wanted[name], content if file.is_text(position) else None
            if text is not None and isinstance(feature, Categorical):
                n_trimmed = count_text_labels_with_blanks(text, feature.categories)
                result.trimmed[name] = result.trimmed.get(name, 0) + n_trimmed
            read, is_target = file.lazy_column(position, content, feature).read(), name == target
            for what, examples in column_misfits(read, feature, is_target=is_target, text=text):
                yield name, what, examples
            if is_target:
                usable = label_codes(read, result.schema) >= 0
        for position, counter in counters:
            counter.add(read_arrow_column(contents[position]), usable)
    if not is_valid:
        result.not_utf8.append(str(file.path))


def _match_checked_names(
    where: str,
    found: Sequence[str],
    wanted: Collection[str],
    result: SchemaCheck,
    hint_if_none: str,
) -> tuple[dict[str, int], list[Misfit]]:
    """Return the positions of the wanted columns, and misfits for missing or repeated ones."""
    if set(wanted).isdisjoint(found):  # this is another table
        raise SchemaError(
            f"{where}: must have the columns of the schema, but has none of them.{hint_if_none}"
        )
    others = [name for name in found if name not in wanted]
    result.ignored += [" ".join(name.splitlines()[:1]) for name in others]
    readable = [name for name in others if "\ufffd" not in name]
    problems = [
        Misfit(name, f"not in {where}: fit will raise an error.{_check_hint(name, readable)}")
        for name in wanted
        if name not in found
    ]
    problems += [
        Misfit(name, f"twice in {where}: fit will raise an error. Rename or delete one.")
        for name in wanted
        if found.count(name) > 1
    ]
    return {name: found.index(name) for name in wanted if found.count(name) == 1}, problems


def _check_hint(absent: str, others: Sequence[str]) -> str:
    spaced = [name for name in others if name.strip() == absent]
    if spaced:  # only in frames: names in files are trimmed
        return f" Remove the blanks around the name {spaced[0]!r}."
    return did_you_mean(absent, others)


def _find_frame_columns_to_check(
    table: Table, schema: Schema, result: SchemaCheck
) -> tuple[dict[str, int], list[Misfit]]:
    if not table.has_shape:  # a list without rows fits every schema
        return {}, []
    if table.names is not None:
        positions, problems = _match_checked_names("X", table.names, schema.features, result, "")
        problems += [
            Misfit(name, "twice in X: fit will raise an error. Rename or delete one.")
            for name, times in Counter(result.ignored).items()
            if times > 1
        ]
        result.ignored = [name for name in dict.fromkeys(result.ignored) if name != schema.unit]
        return positions, problems
    if len(table.columns) != len(schema.names):
        raise SchemaError(
            f"X must have the {len(schema.names)} columns of the schema, got "
            f"{len(table.columns)}. Pass a frame with column names to see which ones are missing."
        )
    return {name: position for position, name in enumerate(schema.names)}, []


def _frame_column_misfits(
    name: str,
    column: LazyColumn,
    feature: Feature,
    check: Callable[[ColumnType], None],
    *,
    is_target: bool = False,
) -> list[Misfit]:
    """Return the misfits of a frame's column. `check` raises a SchemaError for a wrong type."""
    try:
        check(column.type)
    except SchemaError as error:
        return [Misfit(name, str(error))]
    found = column_misfits(column.read(), feature, is_target=is_target)
    return [Misfit(name, what, *misfit_count(Counter(examples))) for what, examples in found]
