"""Tables of CSV files: pandas or polars frames where one of them is installed, else columns by name."""

from __future__ import annotations

import csv
import importlib
import importlib.util
import io
from typing import Any

import numpy as np
import numpy.typing as npt

#: Columns by name. Whole numbers are int64, numbers float64 with nan for blank cells, everything else is text with '' for blank
#: cells (dtype object).
Columns = dict[str, npt.NDArray[Any]]

_KINDS = ("pandas", "polars", "dict")
_chosen: str | None = None


def set_tables(kind: str | None) -> None:
    """What tables are from now on: 'pandas', 'polars', 'dict', or None for the first of them that is installed."""
    global _chosen
    if kind is not None and kind not in _KINDS:
        raise ValueError(f"tables are one of {', '.join(_KINDS)}, not {kind!r}")
    _chosen = kind


def columns(text: str) -> Columns:
    """The columns of a CSV text."""
    rows = list(csv.reader(io.StringIO(text)))
    if not rows:
        return {}
    header, cells = rows[0], rows[1:]
    return {name: _column([row[index] for row in cells]) for index, name in enumerate(header)}


def table(text: str) -> Any:
    """A CSV text as a table of the kind that is chosen or installed."""
    return of_columns(columns(text))


def of_columns(found: Columns) -> Any:
    """Columns as a table of the kind that is chosen or installed."""
    kind = _chosen or next(kind for kind in _KINDS if kind == "dict" or importlib.util.find_spec(kind))
    if kind == "dict":
        return found
    frames = importlib.import_module(kind)
    return frames.DataFrame(found if kind == "pandas" else {name: column.tolist() for name, column in found.items()})


def _column(cells: list[str]) -> npt.NDArray[Any]:
    filled = [cell for cell in cells if cell != ""]
    if filled:
        if filled == cells:
            try:
                return np.array([_integer(cell) for cell in cells], dtype=np.int64)
            except (ValueError, OverflowError):
                pass
        try:
            return np.array([_number(cell) for cell in cells], dtype=np.float64)
        except ValueError:
            pass
        if set(filled) <= {"true", "false"} and filled == cells:
            return np.array([cell == "true" for cell in cells])
    return np.array(cells, dtype=object)


def _integer(cell: str) -> int:
    # Python reads 1_000 too.
    if not cell.removeprefix("-").isdecimal():
        raise ValueError(cell)
    return int(cell)


def _number(cell: str) -> float:
    if cell == "":
        return float("nan")
    # What no float64 holds stays text.
    if cell.removeprefix("-").isdecimal() and int(float(cell)) != int(cell):
        raise ValueError(cell)
    if "_" in cell or cell.strip("+-").lower() in ("nan", "infinity"):
        raise ValueError(cell)
    return float(cell)
