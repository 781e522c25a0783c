"""Calibration methods that are written in Python."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Callable, Protocol

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Observed:
    """What was seen of the real values of a tensor, and the codes that it is to have."""

    #: The least and the greatest value, joined with 0.
    low: float
    high: float
    #: The least and the greatest value of every sample, in order: shape [n, 2].
    samples: npt.NDArray[np.float32]
    #: The middles of the bins of the histogram that hold values other than 0, ascending, and how many each holds.
    values: npt.NDArray[np.float64]
    counts: npt.NDArray[np.uint64]
    #: How many values were 0.
    zeros: int
    #: The least and the greatest code.
    codes: tuple[int, int]
    #: Whether real 0 is the middle code.
    symmetric: bool


class Method(Protocol):
    """Chooses the least and the greatest real value that the codes of a tensor cover."""

    def __call__(self, observed: Observed, /) -> tuple[float, float]: ...


def named(method: str | Method) -> tuple[str, tuple[str, Callable[..., tuple[float, float]]] | None]:
    """The name of a method, and for a function what the extension calls."""
    if isinstance(method, str):
        return method, None
    function = method

    def called(*seen: Any) -> tuple[float, float]:
        low, high = (float(value) for value in function(Observed(*seen)))
        if not (math.isfinite(low) and math.isfinite(high) and low <= high):
            raise ValueError(f"a calibration method gives two finite numbers, the lesser one first: {low}, {high}")
        return low, high

    # Its ranges come from the function: the named one is not asked.
    return "min-max", (getattr(method, "__name__", type(method).__name__), called)
