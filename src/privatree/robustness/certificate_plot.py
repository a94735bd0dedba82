"""A certificate as a curve. matplotlib is an extra: it is loaded when a curve is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privatree.errors import ParameterError
from privatree.privacy.statement import shown_amount
from privatree.robustness.certificate_text import shown_confidence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privatree.robustness.curve import Certificate

_POINTS = 50
_BEYOND = 1.25
"""How far the curve goes, of the largest number of poisoned records that was asked for."""


def draw(certificate: Certificate, ax: Axes | None) -> Axes:
    """Draw the guarantee, the paper's bound, and the estimate without poison."""
    if ax is None:
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ParameterError(
                "plot needs matplotlib, which is not installed. Install it: pip install matplotlib"
            ) from error
        ax = pyplot.subplots(layout="constrained")[1]
    farthest = max(10, int(_BEYOND * max(certificate.poisoned, default=0)))
    edits = np.unique(np.linspace(0, farthest, _POINTS, dtype=np.int64)).tolist()
    sure = f"guaranteed with {shown_confidence(certificate.confidence)} confidence"
    if certificate.claimed_by is not None:
        sure = f"only if the claim by {certificate.claimed_by} is true"
    (line,) = ax.plot(edits, [certificate.guarantee(x) for x in edits], label=sure)
    if certificate.poisoned:
        marked = [certificate.guarantee(x) for x in certificate.poisoned]
        ax.plot(certificate.poisoned, marked, "o", color=line.get_color())
    paper = [certificate.bounds(x)["A"] for x in edits]
    ax.plot(edits, paper, "--", color="0.5", label="the paper's bound (A)")
    ax.axhline(
        certificate.estimate, color="0.5", linestyle=":", label="without poison, average of refits"
    )
    ax.set_title(f"{certificate.learner}, epsilon {shown_amount(certificate.epsilon)}")
    ax.set_xlabel("records added or removed")
    side = "at least" if certificate.more_is_better else "at most"
    ax.set_ylabel(f"expected {certificate.score}, {side}")
    ax.set_ylim(0, 1)
    ax.set_xlim(0, farthest)
    ax.legend(loc="upper right" if certificate.more_is_better else "lower right")
    return ax
