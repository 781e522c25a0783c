"""Calibration methods written in Python."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Callable, Protocol

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Observed:
    """Observed real values of a tensor, and the codes that it will have."""

    #: The least and the greatest value, including 0.
    low: float
    high: float
    #: The least and the greatest value of every sample, in order: shape [n, 2].
    samples: npt.NDArray[np.float32]
    #: The middles of the histogram's bins that hold values other than 0, ascending, and their counts.
    values: npt.NDArray[np.float64]
    counts: npt.NDArray[np.uint64]
    #: The number of zeros.
    zeros: int
    #: The least and the greatest code.
    codes: tuple[int, int]
    #: Whether real 0 has the middle code.
    symmetric: bool


class Method(Protocol):
    """Chooses the least and the greatest real value that the codes of a tensor cover."""

    def __call__(self, observed: Observed, /) -> tuple[float, float]: ...


def named(method: str | Method) -> tuple[str, tuple[str, Callable[..., tuple[float, float]]] | None]:
    """Returns the name of a method, and for a function the callback of the extension."""
    if isinstance(method, str):
        return method, None
    function = method

    def called(*seen: Any) -> tuple[float, float]:
        low, high = (float(value) for value in function(Observed(*seen)))
        if not (math.isfinite(low) and math.isfinite(high) and low <= high):
            raise ValueError(f"a calibration method must return two finite numbers, the smaller one first: {low}, {high}")
        return low, high

    # The function chooses the ranges; the named method is not used.
    return "min-max", (getattr(method, "__name__", type(method).__name__), called)
