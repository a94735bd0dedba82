"""The compiled loops of :mod:`joint_exponential_tables`, in its notation.

Arrays of scaled numbers come as float64 mantissas and int32 exponents. Zero enters them with the
exponent -2^31, below that of any weight: rate * 2 rows / (512 log 2) < 2^31.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from privatree._support.kernels.compiling import compiled
from privatree.privacy.samplers._scaled_floats import (
    LOWEST_STORED_EXPONENT,
    ZERO_EXPONENT,
    add,
    damp,
    divide,
    multiply,
    normal,
    power,
)

_HIGH, _LOW = 2.0**256, 2.0**-256
_UP, _DOWN = 2.0**512, 2.0**-512
_CHUNK = 1024


@compiled
def _kernel(powers: Any, kernels: Any, gap: Any, rows: Any) -> Any:
    """K_gap(rows), gaps counted from 0: power and constant and product."""
    turn = kernels[0][gap]
    if rows >= turn:
        mantissa, exponent = power(powers, rows - turn)
        return multiply(mantissa, exponent, kernels[1][gap], kernels[2][gap])
    mantissa, exponent = power(powers, turn - 1 - rows)
    return multiply(mantissa, exponent, kernels[3][gap], kernels[4][gap])


@compiled
def fill(
    positions: Any,
    widths: Any,
    powers: Any,
    kernels: Any,
    b: Any,
    b_exponents: Any,
    scratch: Any,
    scratch_exponents: Any,
) -> None:
    """B_1, ..., B_m, the rows of ``b``. ``scratch`` has three rows of the same length."""
    n_quantiles, size = b.shape
    for i in range(size):
        b[0, i], b_exponents[0, i] = _kernel(powers, kernels, 0, positions[i])
    decays, decay_exponents = scratch[0], scratch_exponents[0]
    for i in range(1, size):
        decays[i], decay_exponents[i] = power(powers, positions[i] - positions[i - 1])
    a, a_exponents = scratch[1], scratch_exponents[1]
    suffixes, suffix_exponents = scratch[2], scratch_exponents[2]
    for gap in range(1, n_quantiles):
        zero_gaps = _zero_gaps(powers, kernels, gap)
        _sum_runs(zero_gaps, b, b_exponents, gap, widths, 0, a, a_exponents)
        window = kernels[0][gap] - 1
        _sum_suffixes(
            positions, decays, decay_exponents, a, a_exponents, window, suffixes, suffix_exponents
        )
        _convolve(
            positions,
            powers,
            (decays, decay_exponents, a, a_exponents, suffixes, suffix_exponents),
            window,
            (kernels[1][gap], kernels[2][gap], kernels[3][gap], kernels[4][gap]),
            b[gap],
            b_exponents[gap],
        )


@compiled
def _zero_gaps(powers: Any, kernels: Any, placed: Any) -> Any:
    """K_l(0) for the gaps l = 1, ..., placed - 1 (from 0), and 1/k beside them for _run_sum."""
    values, exponents = np.empty(placed), np.empty(placed, dtype=np.int64)
    for gap in range(placed):
        values[gap], exponents[gap] = _kernel(powers, kernels, gap, 0)
        values[gap], exponents[gap] = divide(
            values[gap], exponents[gap], float(placed - gap + 1), np.int64(0)
        )
    return values, exponents


@compiled
def _sum_runs(
    zero_gaps: Any,
    b: Any,
    b_exponents: Any,
    placed: Any,
    widths: Any,
    first: Any,
    a: Any,
    a_exponents: Any,
) -> None:
    """A_placed from interval ``first`` on: the term of run k is w/1 ... w/k times its kernels.

    A Horner scheme, in chunks that fit the processor's cache.
    """
    values, value_exponents = zero_gaps
    exponents = np.empty(_CHUNK)
    for start in range(first, first + a.size, _CHUNK):
        stop = min(start + _CHUNK, first + a.size)
        totals = a[start - first : stop - first]
        for i in range(totals.size):
            totals[i], exponents[i] = b[0, start + i], b_exponents[0, start + i]
        for gap in range(1, placed):
            _horner_step(
                totals,
                exponents,
                values[gap],
                float(value_exponents[gap]),
                widths[start:stop],
                b[gap, start:stop],
                b_exponents[gap, start:stop],
            )
        for i in range(totals.size):
            total, exponent = normal(totals[i] * widths[start + i], np.int64(exponents[i]))
            totals[i], a_exponents[start - first + i] = total, exponent


@compiled
def _horner_step(
    totals: Any,
    exponents: Any,
    value: Any,
    value_exponent: Any,
    widths: Any,
    b: Any,
    b_exponents: Any,
) -> None:
    """Total = total * value * width + b in scaled numbers, without branches.

    It does what ``normal`` and ``add`` do, with exponents as floats, so that a compiler can work
    on several at a time. A width is at most 2^50, hence a product at most 2^562.
    """
    for i in range(totals.size):
        total = totals[i] * (value * widths[i])
        exponent = exponents[i] + value_exponent
        shift = -1.0 if total < _LOW else (1.0 if total >= _HIGH else 0.0)
        total *= _UP if total < _LOW else (_DOWN if total >= _HIGH else 1.0)
        exponent += shift
        other = float(b_exponents[i])
        ahead = exponent - other
        total *= 1.0 if ahead >= 0.0 else (_DOWN if ahead >= -1.0 else 0.0)
        total += b[i] * (1.0 if ahead <= 0.0 else (_DOWN if ahead <= 1.0 else 0.0))
        exponent = exponent if ahead >= 0.0 else other
        totals[i] = total * (_DOWN if total >= _HIGH else 1.0)
        exponents[i] = exponent + (1.0 if total >= _HIGH else 0.0)


@compiled
def _sum_suffixes(
    positions: Any,
    decays: Any,
    decay_exponents: Any,
    a: Any,
    a_exponents: Any,
    window: Any,
    suffixes: Any,
    suffix_exponents: Any,
) -> None:
    """Sum of A(i') exp(-rate (x_i' - x_i)) over i' >= i in the block of i.

    Blocks are the multiples of the window's length.
    """
    if window == 0:
        return
    size = positions.size
    total, exponent = 0.0, ZERO_EXPONENT
    start = positions[size - 1] // window * window
    for i in range(size - 1, -1, -1):
        if positions[i] < start:
            start = positions[i] // window * window
            total, exponent = 0.0, ZERO_EXPONENT
        elif i + 1 < size:
            total, exponent = multiply(
                total, exponent, decays[i + 1], np.int64(decay_exponents[i + 1])
            )
        total, exponent = add(total, exponent, a[i], np.int64(a_exponents[i]))
        suffixes[i] = total
        suffix_exponents[i] = max(exponent, LOWEST_STORED_EXPONENT)


@compiled
def _convolve(
    positions: Any, powers: Any, terms: Any, window: Any, constants: Any, b: Any, b_exponents: Any
) -> None:
    """B(i) = sum over i' < i of A(i') K(x_i - x_i'), in a number of steps linear in the intervals.

    Gaps beyond the window: a decaying sum. Gaps 1, ..., window: positions x_i - window to x_i - 1
    meet at most two blocks, the end of one (``suffixes``) and the beginning of the next.
    """
    decays, decay_exponents, a, a_exponents, suffixes, suffix_exponents = terms
    far, far_exponent = 0.0, ZERO_EXPONENT
    prefix, prefix_exponent = 0.0, ZERO_EXPONENT
    step, entry, entry_exponent = 0, 1.0, np.int64(0)  # the last step between positions
    first = 0  # of the window
    start = positions[0] // window * window if window > 0 else 0
    for i in range(positions.size):
        position = positions[i]
        if i > 0:
            decay, decay_exponent = decays[i], np.int64(decay_exponents[i])
            far, far_exponent = multiply(far, far_exponent, decay, decay_exponent)
            if window > 0 and position < start + window:
                prefix, prefix_exponent = divide(prefix, prefix_exponent, decay, decay_exponent)
                if position - positions[i - 1] != step:
                    step = position - positions[i - 1]
                    entry, entry_exponent = power(powers, window - step)
                value, exponent = multiply(
                    a[i - 1], np.int64(a_exponents[i - 1]), entry, entry_exponent
                )
                prefix, prefix_exponent = add(prefix, prefix_exponent, value, exponent)
            elif window > 0:
                start = position // window * window
                prefix, prefix_exponent = 0.0, ZERO_EXPONENT
        while positions[first] < position - window:
            value, exponent = damp(
                powers,
                position - window - 1 - positions[first],
                a[first],
                np.int64(a_exponents[first]),
            )
            far, far_exponent = add(far, far_exponent, value, exponent)
            first += 1
        near, near_exponent = prefix, prefix_exponent
        if first < i and positions[first] < start:
            value, exponent = damp(
                powers,
                window - (position - positions[first]),
                suffixes[first],
                np.int64(suffix_exponents[first]),
            )
            near, near_exponent = add(near, near_exponent, value, exponent)
        near, near_exponent = multiply(near, near_exponent, constants[2], constants[3])
        value, exponent = multiply(far, far_exponent, constants[0], constants[1])
        value, exponent = add(value, exponent, near, near_exponent)
        b[i] = value
        b_exponents[i] = max(exponent, LOWEST_STORED_EXPONENT)


@compiled
def weigh_intervals(
    positions: Any,
    widths: Any,
    powers: Any,
    kernels: Any,
    b: Any,
    b_exponents: Any,
    placed: Any,
    end: Any,
    first: Any,
    weights: Any,
    exponents: Any,
) -> None:
    """A_placed(i) K_{placed+1}(end - x_i) from interval ``first`` on."""
    zero_gaps = _zero_gaps(powers, kernels, placed)
    _sum_runs(zero_gaps, b, b_exponents, placed, widths, first, weights, exponents)
    for i in range(weights.size):
        value, exponent = _kernel(powers, kernels, placed, end - positions[first + i])
        value, exponent = multiply(weights[i], np.int64(exponents[i]), value, exponent)
        weights[i], exponents[i] = value, max(exponent, LOWEST_STORED_EXPONENT)


@compiled
def weigh_runs(
    powers: Any, kernels: Any, b: Any, b_exponents: Any, placed: Any, interval: Any, width: Any
) -> Any:
    """The terms k = 1, ..., placed of A_placed(interval), as mantissas and exponents."""
    weights, exponents = np.empty(placed), np.empty(placed, dtype=np.int32)
    factor, factor_exponent = width, np.int64(0)
    for run in range(1, placed + 1):
        if run > 1:
            value, exponent = _kernel(powers, kernels, placed - run + 1, 0)
            factor, factor_exponent = multiply(factor, factor_exponent, value, exponent)
            factor, factor_exponent = multiply(factor, factor_exponent, width / run, 0)
        value, exponent = b[placed - run, interval], np.int64(b_exponents[placed - run, interval])
        value, exponent = multiply(value, exponent, factor, factor_exponent)
        weights[run - 1], exponents[run - 1] = value, max(exponent, LOWEST_STORED_EXPONENT)
    return weights, exponents


@compiled
def flatten(weights: Any, exponents: Any) -> None:
    """Scaled numbers as floats in units of the largest radix: below 2^-512 of the largest, 0."""
    largest = exponents[0]
    for i in range(weights.size):
        largest = max(largest, exponents[i])
    for i in range(weights.size):
        if exponents[i] == largest - 1:
            weights[i] *= 2.0**-512
        elif exponents[i] < largest - 1:
            weights[i] = 0.0
