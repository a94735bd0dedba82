"""The plot of a certificate. matplotlib is an extra: it is loaded when a plot is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privatree._support.plot_style import BLUE, GREY, new_axes
from privatree.privacy import shown_amount
from privatree.robustness.certificates._certificate_text import confidence_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privatree.robustness.certificates._certificate import Certificate

_POINTS = 50
_BEYOND = 1.25
"""Length of the curve, relative to the largest number of poisoned records of the certificate."""


def plot_certificate(certificate: Certificate, ax: Axes | None) -> Axes:
    """Draw the guarantee, the paper's bound, and the estimate without poisoning."""
    if ax is None:
        ax = new_axes(6.4, 4.2)
    farthest = max(10, int(_BEYOND * max(certificate.poisoned, default=0)))
    edits = np.unique(np.linspace(0, farthest, _POINTS, dtype=np.int64)).tolist()
    sure = f"guaranteed with {confidence_text(certificate.confidence)} confidence"
    if certificate.claimed_by is not None:
        sure = f"only if the claim by {certificate.claimed_by} is true"
    certain = [certificate.guarantee(x) for x in edits]
    ax.plot(edits, certain, color=BLUE, linewidth=2.2, label=sure)
    if certificate.poisoned:
        marked = [certificate.guarantee(x) for x in certificate.poisoned]
        ax.plot(certificate.poisoned, marked, "o", color=BLUE, markeredgecolor="white", zorder=3)
    paper = [certificate.bounds(x)["A"] for x in edits]
    ax.plot(edits, paper, "--", color=GREY, linewidth=1.4, label="the paper's bound (A)")
    clean = "without poison, average of refits"
    ax.axhline(certificate.estimate, color="black", linestyle=":", label=clean)
    if certificate.majority is not None:
        kind = "most frequent" if certificate.more_is_better else "median"
        share, always = certificate.majority.share, f"always the {kind} answer"
        ax.axhline(share, color=GREY, linestyle="-.", linewidth=1.0, label=always)
    worst = 0.0 if certificate.more_is_better else certificate.largest
    ax.fill_between(edits, certain, worst, color=BLUE, alpha=0.1, linewidth=0)  # excluded
    title = f"{certificate.learner}, epsilon {shown_amount(certificate.epsilon)}"
    ax.set_title(title, parse_math=False, usetex=False)
    ax.set_xlabel(f"{certificate.privacy.words.counted} added or removed")
    side = "at least" if certificate.more_is_better else "at most"
    ax.set_ylabel(f"expected {certificate.score}, {side}")
    ax.set_ylim(0, 1.02 * certificate.largest)
    ax.set_xlim(0, farthest)
    ax.grid(axis="y", color="#E4E4E4", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    for text in ax.legend(loc="best", fontsize="small").get_texts():
        text.set_parse_math(False)  # a dollar sign in claimed_by is text
    return ax
