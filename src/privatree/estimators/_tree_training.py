"""What the classifier and the regressor whose model is one tree have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from privatree._support.validation import check_integer, check_one_of
from privatree.counting import MAX_LEVELS, ClassCounts, FineCells, default_n_bins
from privatree.errors import ParameterError
from privatree.estimators._base import MAX_DEPTH, OpenRecords
from privatree.estimators._notes import signal_notes, tree_notes
from privatree.estimators._training import PrivateTraining, Training
from privatree.estimators.holdout import HeldOut, dealt_records, stated_with_scores
from privatree.evaluation import PrivateScores
from privatree.learners.tree import FREE_DEPTH, MAX_TABLE, RecordPlan, simplify_tree
from privatree.model import MAX_MASK, Tree
from privatree.privacy import PrivacyStatement, Randomness, Spend, conservative_epsilon
from privatree.schema import Categorical, Schema

AnyPlan = TypeVar("AnyPlan", bound=RecordPlan)


class Counted(NamedTuple):
    """The counts of the records that a learner trains on, and the codes that they are by."""

    records: ClassCounts
    cells: FineCells


class TreeTraining(PrivateTraining):
    """Parameters and steps that the learners of one tree share."""

    max_depth: int | None
    lookahead: int | str
    schedule: str
    robust_levels: int
    simplify: bool
    zoom: bool
    _drawn = "tree"

    def _train_tree(
        self,
        opened: OpenRecords,
        make_plan: Callable[[FineCells, int], AnyPlan],
        grow: Callable[[Counted, AnyPlan, Training], Tree],
        randomness: Randomness,
        held_out: HeldOut | None,
    ) -> tuple[Tree, PrivacyStatement, PrivateScores | None]:
        """Count, plan, charge, grow, simplify, score, and write the statement.

        `make_plan` gets the codes of the features, and the number of rows, which it uses only where
        it is public.
        """
        source, schema, unit, has_weights = opened
        cells = self._fine_cells(schema)
        self._check_categories(schema)
        _check_table_size(make_plan(cells, 0))  # the number of rows does not matter here
        with dealt_records(source, schema, held_out, randomness):
            records, n_rows = source.counts(cells.binner())
            plan = self._training_plan(make_plan(cells, n_rows), records.full_weight, held_out)
            drawn, training = self._train(
                lambda training: grow(Counted(records, cells), plan, training),
                records,
                plan,
                randomness,
                unit,
                held_out=held_out,
            )
            size = plan.planning_size(training.noisy_size)
            tree, spends = self._simplified(drawn, plan, training, size)
            scores = self._released_scores(tree, source, randomness, unit, held_out)
        notes = [f"The guarantee rests on this: {text}." for text in source.assumptions]
        notes += tree_notes(drawn, tree, plan.leaf_count_epsilon(size))
        if plan.dataset_size is not None or training.noisy_size is not None:
            notes += signal_notes(schema, size, plan.epsilon)
        privacy = self._make_statement(schema, training, notes, has_weights)
        privacy = replace(privacy, spends=spends, schedule=plan.schedule())
        return tree, stated_with_scores(privacy, held_out, scores), scores

    def _simplified(
        self, drawn: Tree, plan: RecordPlan, training: Training, size: int
    ) -> tuple[Tree, tuple[Spend, ...]]:
        """Return the tree that is released, and the spends on its nodes."""
        spends = tuple(training.ledger.spends())
        if not self.simplify:
            return drawn, spends
        tree, numbers = simplify_tree(drawn, plan.leaf_count_epsilon(size), size)
        kept = (
            spend if spend.node is None else replace(spend, node=numbers[spend.node])
            for spend in spends
            if spend.node is None or spend.node in numbers
        )
        return tree, tuple(kept)

    def _fine_cells(self, schema: Schema) -> FineCells:
        n_bins = default_n_bins(len(schema.features)) if self.n_bins == "auto" else self.n_bins
        levels = MAX_LEVELS if self.zoom and self.schedule == "accuracy" else 0
        return FineCells.from_schema(schema, int(n_bins), levels)

    def _shared_plan(self, cells: FineCells, n_rows: int) -> dict[str, Any]:
        """Return the learner's public parameters. `n_rows` is used only where it is public."""
        epsilon = conservative_epsilon("epsilon", self.epsilon)
        is_private = self.dataset_size == "private"
        dataset_size = None if is_private else int(self.dataset_size)
        if self.neighbours == "replace":  # one replaced record is one removed and one added
            epsilon /= 2
            dataset_size = max(1, n_rows) if is_private else dataset_size
        candidates = cells.plain
        codes = np.array(candidates.n_codes)
        return {
            "epsilon": epsilon,
            "numeric_codes": tuple(codes[~candidates.is_category].tolist()),
            "categorical_codes": tuple(codes[candidates.is_category].tolist()),
            "max_depth": FREE_DEPTH if self.max_depth is None else int(self.max_depth),
            "lookahead": None if self.lookahead == "auto" else int(self.lookahead),
            "robust_levels": int(self.robust_levels) if self.schedule == "robust" else None,
            "dataset_size": dataset_size,
            "min_records": cells.schema.min_records,
            "n_zoomed": len(cells.features),
        }

    def _check_tree_parameters(self) -> None:
        self._check_shared_parameters()
        if self.max_depth is not None:
            check_integer("max_depth", self.max_depth, 1, MAX_DEPTH, unless="None")
        if self.lookahead != "auto":
            check_integer("lookahead", self.lookahead, 1, 3, unless='"auto"')
        check_one_of("schedule", self.schedule, ("accuracy", "robust"))
        check_integer("robust_levels", self.robust_levels, 1, MAX_DEPTH)
        for name in ("simplify", "zoom"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError(
                    f"{name} must be True or False, got {getattr(self, name)!r}.", name
                )

    def _check_categories(self, schema: Schema) -> None:
        """Check, before any record is read, that a tree can hold the splits on categories."""
        depth = FREE_DEPTH if self.max_depth is None else int(self.max_depth)
        kinds = [f for f in schema.features.values() if isinstance(f, Categorical)]
        most = max((feature.n_codes for feature in kinds), default=0)
        if most * (2**depth - 1) > MAX_MASK:
            raise ParameterError(
                f"max_depth must be smaller for a feature of {most} categories, got {depth}: at "
                f"this depth, all splits of a tree together can have more than {MAX_MASK} "
                "categories. Pass a smaller max_depth.",
                "max_depth",
            )


def _check_table_size(plan: RecordPlan) -> None:
    """Check that the tables of counts fit in memory, wherever the records are.

    Only the schema and the parameters decide this, before any record is counted. Whether records
    are kept in memory or read in passes depends on their number, and an error must not.
    """
    if plan.largest_table() > MAX_TABLE:
        raise ParameterError(
            "lookahead must be smaller for this number of columns and classes: its tables must "
            f'have at most {MAX_TABLE} counts. Pass a smaller lookahead, or lookahead="auto".',
            "lookahead",
        )
