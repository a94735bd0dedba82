"""Private scores: metrics of a model with their intervals, and what they cost."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from textwrap import TextWrapper
from typing import Any

from privatree._support.atomic_files import replace_file
from privatree._support.json_files import read_json
from privatree.evaluation._score import IN_TARGET_UNITS, CurvePoint, Score
from privatree.evaluation._scores_json import scores_from_dict, scores_to_dict
from privatree.privacy import Spend, UnitWords, shown_amount, shown_count
from privatree.schema import Label

N_STEPS = 16
"""Number of steps to which probabilities are rounded where a model has too many."""
SCORES_FILE = "a file of private scores"
"""Name of the file in error messages."""


@dataclass(frozen=True)
class PrivateScores:
    """How good a model is, with differential privacy for the records that it was scored with.

    It holds released numbers only, so it can be published with the model.
    ``str`` gives a table of all metrics with their intervals.

    Attributes
    ----------
    scores : tuple of Score
        The metrics. ``scores["accuracy"]``, or ``scores["recall", "yes"]`` for a class, is one.
    epsilon : float
        Privacy cost of the scores, for a whole record or for all records of a unit.
    neighbours : {"add-remove", "replace"}
        Neighbour relation of the guarantee.
    unit : str or None
        What the guarantee protects as a whole; None if it protects single records.
    seeded : bool
        Whether the noise came from a seed, and therefore is not secret.
    noisy_size, size_error : float
        Noisy number of scored records or units, and a bound on its noise that holds with a
        probability of 95%.
    classes : tuple of label
        The classes; empty for a model that predicts a number.
    confusion : tuple of tuple of float
        Noisy number of records by true and by predicted class; empty without classes.
    calibration : tuple of (label, tuple of CurvePoint)
        A calibration curve for the second of two classes, or for each of several classes.
    is_rounded : bool
        Whether AUC, Brier score, log loss and calibration are those of probabilities that were
        rounded to steps, because the model has too many.
    error_limit : float or None
        Errors above this count as this one. None for classes, and if errors are not cut.
    target_limits : pair of float or None
        For R², targets beyond these count as the nearer one. None for classes, and if targets are
        not cut.
    spends : tuple of Spend
        Every charge. They add up to epsilon (to half of it for ``"replace"``).
    assumptions : tuple of str
        What the guarantee rests on, if the way the records were read needs it.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> from privatree.evaluation import private_scores
    >>> X, y, schema = datasets.load("breast-w")
    >>> model = PrivaTreeClassifier(epsilon=1, max_depth=1, schema=schema, random_state=0)
    >>> model = model.fit(X[::2], y[::2])
    >>> scores = private_scores(model, X[1::2], y[1::2], epsilon=1, random_state=0)
    >>> scores["accuracy"].low < 0.9 < scores["accuracy"].high
    True
    >>> PrivateScores.from_dict(scores.to_dict()) == scores
    True
    """

    scores: tuple[Score, ...]
    epsilon: float
    neighbours: str
    unit: str | None
    seeded: bool
    noisy_size: float
    size_error: float
    classes: tuple[Label, ...] = ()
    confusion: tuple[tuple[float, ...], ...] = ()
    calibration: tuple[tuple[Label, tuple[CurvePoint, ...]], ...] = ()
    is_rounded: bool = False
    error_limit: float | None = None
    target_limits: tuple[float, float] | None = None
    spends: tuple[Spend, ...] = field(default=(), repr=False)
    assumptions: tuple[str, ...] = ()

    @property
    def words(self) -> UnitWords:
        """What the guarantee protects, in words."""
        return UnitWords(self.unit)

    def __getitem__(self, wanted: Any) -> Score:
        name, of_class = wanted if isinstance(wanted, tuple) else (wanted, None)
        for score in self.scores:
            if score.name == name and score.of_class == of_class:
                return score
        raise KeyError(wanted)

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores)

    @property
    def size_text(self) -> str:
        """The noisy number of scored records or units, with a bound on its noise."""
        return f"{shown_count(round(self.noisy_size), math.ceil(self.size_error))} {self.counted}"

    @property
    def counted(self) -> str:
        """What the scores count: "records" or "units"."""
        return self.words.counted

    @property
    def meaning(self) -> tuple[str, ...]:
        """What the intervals mean, what the scores cost, and what else a reader must know."""
        words = self.words
        texts = [
            f"Each interval holds the true value {self._of_cut_errors}for {self.counted} like the "
            "scored ones with a probability of 95%. It counts the noise that keeps the scores "
            f"private, and that the scored {self.counted} are a sample.",
            f"The scores together cost epsilon {shown_amount(self.epsilon)} for {words.whole}: "
            f"{words.neighbours(self.neighbours)}.",
        ]
        texts += [f"The guarantee rests on this: {text}." for text in self.assumptions]
        if self.unit is not None:
            texts.append(f"{words.definition} Each counts once, however many records it has.")
        if len(self.classes) > 2 and any(score.name == "AUC" for score in self.scores):
            texts.append("AUC is the mean over the classes, each against all others.")
        if self.is_rounded:
            texts.append(
                "For AUC, Brier score, log loss and calibration, probabilities are rounded to "
                f"{N_STEPS} steps, finer near 0 and 1."
            )
        if self.error_limit is not None:
            texts.append(
                f"Errors above {self.error_limit:.4g} count as {self.error_limit:.4g} (are cut), "
                "because the noise hides how many are larger. The uncut mean absolute error and, "
                "above all, root mean squared error can be much larger. The intervals do not cover "
                "that."
            )
        if self.target_limits is not None:
            low, high = self.target_limits
            texts.append(
                f"For R², targets beyond {low:.4g} to {high:.4g} count as the nearer end, for the "
                "same reason."
            )
        if self.seeded:
            texts.append(
                "The noise came from random_state: whoever knows the seed can remove it. Score "
                "with random_state=None before publishing."
            )
        return tuple(texts)

    @property
    def _of_cut_errors(self) -> str:
        return "" if self.error_limit is None else "of cut errors "

    def title_of(self, score: Score) -> str:
        """Return the title of a metric: "mean absolute error, cut at 30", say."""
        if self.error_limit is None or score.name not in IN_TARGET_UNITS:
            return score.title
        return f"{score.title}, cut at {self.error_limit:.4g}"

    def __str__(self) -> str:
        """Return all metrics with their intervals as a table, and what they mean."""
        shown = ((self.title_of(score), *score.shown) for score in self.scores)
        rows = [("", "estimate", "95% interval"), *shown]
        first = max(len(title) for title, _, _ in rows)
        second = max(len(value) for _, value, _ in rows)
        lines = [f"Private scores of a model, from {self.size_text}"]
        lines += [
            f"  {title:{first}}  {value:>{second}}   {interval}".rstrip()
            for title, value, interval in rows
        ]
        filled = TextWrapper(96, initial_indent="  ", subsequent_indent="  ")
        return "\n".join([*lines, *map(filled.fill, self.meaning)])

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as plain dictionaries and lists, as in their JSON file."""
        return scores_to_dict(self)

    @classmethod
    def from_dict(cls, written: Any) -> PrivateScores:
        """Return the scores that :meth:`to_dict` wrote; raise a ModelFormatError for mistakes."""
        return cls(**scores_from_dict(written))

    def to_json(self) -> str:
        """Return the text of the file that :meth:`save` writes."""
        return f"{json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)}\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the scores to a JSON file, completely or not at all. An old file is replaced."""
        replace_file(path, self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PrivateScores:
        """Read the file that :meth:`save` wrote. Everything in it is checked.

        Raises
        ------
        ModelFormatError
            If the file is not one of scores. The message is one line that starts with the path.
        """
        return read_json(path, SCORES_FILE, cls.from_dict)
