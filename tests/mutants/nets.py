"""All nets by name. Each takes names of its cases, none for all, and gives a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import composition_nets
import ensemble_nets
import exact_nets
import holdout_nets
import regression_nets
import running_nets
import score_nets
import unit_nets
from reports import Report

NETS: dict[str, Callable[..., Report]] = {
    "loss": exact_nets.loss,
    "stage": exact_nets.stage,
    "decision": exact_nets.decision,
    "ledger": exact_nets.ledger,
    "fit": running_nets.fit,
    "sampler": running_nets.sampler,
    "black box": running_nets.black_box,
    "files": running_nets.files,
    "unit loss": unit_nets.unit_loss,
    "weights": unit_nets.weights,
    "composition": composition_nets.composition,
    "round": ensemble_nets.round_range,
    "ensemble loss": ensemble_nets.ensemble_loss,
    "ensemble delta": ensemble_nets.ensemble_delta,
    "ensemble ledger": ensemble_nets.ensemble_ledger,
    "regression loss": regression_nets.regression_loss,
    "target codes": regression_nets.target_codes,
    "holdout loss": holdout_nets.holdout_loss,
    "score loss": score_nets.score_loss,
}

CASES: dict[str, Iterable[str]] = {
    "loss": exact_nets.CASES,
    "stage": (*exact_nets.CASES, *exact_nets.SPLITS),
    "decision": exact_nets.CASES,
    "ledger": exact_nets.CASES,
    "fit": running_nets.ONE_MORE,
    "sampler": running_nets.LAWS,
    "black box": running_nets.BLACK_BOXES,
    "files": running_nets.FILES,
    "unit loss": unit_nets.UNIT_CASES,
    "weights": unit_nets.UNIT_ROWS,
    "composition": composition_nets.COMPOSITIONS,
    "round": ensemble_nets.ROUNDS,
    "ensemble loss": ensemble_nets.ENSEMBLES,
    "ensemble delta": ensemble_nets.COMPOSED,
    "ensemble ledger": ensemble_nets.ACCOUNTS,
    "regression loss": regression_nets.REGRESSIONS,
    "target codes": regression_nets.RAW,
    "holdout loss": holdout_nets.HOLDOUTS,
    "score loss": score_nets.SCORES,
}
