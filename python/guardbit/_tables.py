"""Tables of CSV files: pandas or polars data frames if one of them is installed, otherwise columns by name."""

from __future__ import annotations

import csv
import functools
import importlib
import importlib.util
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _guardbit

#: Columns by name. Whole numbers are int64, masked where cells can be blank; numbers are float64 with nan for blank cells;
#: everything else is text with '' for blank cells (dtype object).
Columns = dict[str, npt.NDArray[Any]]

_KINDS = ("pandas", "polars", "dict")
_chosen: str | None = None


def set_tables(kind: str | None) -> None:
    """Sets the type of all further tables: 'pandas', 'polars', 'dict', or None for the first of them that is installed."""
    global _chosen
    if kind is not None and kind not in _KINDS:
        raise ValueError(f"tables are one of {', '.join(_KINDS)}, not {kind!r}")
    _chosen = kind


@functools.cache
def _tables() -> dict[tuple[str, str], list[dict[str, Any]]]:
    found: list[dict[str, Any]] = json.loads(_guardbit.tables())
    return {(table["command"], table["file"].removesuffix(".csv")): table["columns"] for table in found}


def _known(table: tuple[str, str] | None) -> list[dict[str, Any]]:
    """Returns the columns of a table; if a command writes a table of another command, those of the latter."""
    if table is None:
        return []
    return _tables().get(table) or next((columns for (_, name), columns in _tables().items() if name == table[1]), [])


def describe(command: str, name: str) -> list[dict[str, Any]]:
    """Returns the columns of a table that a command writes, by the name of its CSV file: name, type, unit, whether
    cells can be blank, meaning.

    Types are 'int64', 'float64', 'bool', 'text', 'integer' (of up to 128 bits) and 'width' (a whole number, or `auto`).
    Axes have further columns after these.
    """
    columns = _known((command, name))
    if not columns:
        known = ", ".join(f"{command} {name}" for command, name in _tables())
        raise KeyError(f"unknown table {name!r} of {command!r}; the tables are {known}")
    return [{key: column[key] for key in ("name", "type", "unit", "blank", "meaning")} for column in columns]


def columns(text: str, table: tuple[str, str] | None = None) -> Columns:
    """Returns the columns of a CSV text. `table` holds the command and the name of the table, which define the types of
    columns.

    Other columns, and those of other texts, have the type that fits all of their cells.
    """
    rows = list(csv.reader(io.StringIO(text)))
    if not rows:
        return {}
    header, cells = rows[0], rows[1:]
    known = {column["name"]: column for column in _known(table)}
    found: Columns = {}
    # Axes follow the table's own columns, and never have the name of one.
    for index, name in enumerate(header):
        of_name = [row[index] for row in cells]
        found[name] = _typed(of_name, known[name]) if name in known else _of_axis(of_name)
    # Files have shares with six digits, so they are computed from the counts in the same file.
    for name, column in known.items():
        share_of = column["share_of"]
        if share_of is not None and {name, *share_of} <= set(found):
            part, whole = (_float(found[count]) for count in share_of)
            with np.errstate(divide="ignore", invalid="ignore"):
                found[name] = np.where(np.isnan(part) | np.isnan(found[name]), found[name], part / whole)
    return found


def share(command: str, name: str, figures: Mapping[str, Any], figure: str) -> Any:
    """Returns a share among the figures of a manifest, computed from its counts; any other figure is returned unchanged."""
    found = figures.get(figure)
    for column in _tables()[command, name]:
        if column["name"] == figure and column["share_of"] is not None and found is not None:
            part, whole = (figures.get(count) for count in column["share_of"])
            return found if part is None or not whole else part / whole
    return found


def table(text: str, name: tuple[str, str] | None = None) -> Any:
    """Returns a CSV text as a table of the selected or installed type."""
    return of_columns(columns(text, name))


def of_columns(found: Columns) -> Any:
    """Returns columns as a table of the selected or installed type."""
    kind = _chosen or next(kind for kind in _KINDS if kind == "dict" or importlib.util.find_spec(kind))
    if kind == "dict":
        return found
    frames = importlib.import_module(kind)
    if kind == "pandas":
        return frames.DataFrame({name: _of_pandas(frames, column) for name, column in found.items()})
    return frames.DataFrame([_of_polars(frames, name, column) for name, column in found.items()])


def _of_pandas(pandas: Any, column: npt.NDArray[Any]) -> Any:
    if not isinstance(column, np.ma.MaskedArray):
        return column
    kind = pandas.arrays.BooleanArray if column.dtype.kind == "b" else pandas.arrays.IntegerArray
    return kind(column.filled(0), np.ma.getmaskarray(column).copy())


def _of_polars(polars: Any, name: str, column: npt.NDArray[Any]) -> Any:
    if isinstance(column, np.ma.MaskedArray):
        return polars.Series(name, column.tolist(), polars.Boolean if column.dtype.kind == "b" else polars.Int64)
    if column.dtype != object:
        return polars.Series(name, column)
    values = column.tolist()
    if all(value is None or type(value) is int for value in values) and any(value is not None for value in values):
        return polars.Series(name, values, polars.Int128)
    if all(value is None or isinstance(value, str) for value in values):
        return polars.Series(name, values, polars.String)
    # Figures of different types in one column, e.g. in a comparison.
    return polars.Series(name, values, polars.Object) if any(isinstance(value, (list, dict)) for value in values) else _mixed(polars, name, values)


def _mixed(polars: Any, name: str, values: list[Any]) -> Any:
    if all(value is None or isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return polars.Series(name, values, polars.Float64, strict=False)
    return polars.Series(name, values, polars.Object)


def _float(column: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    if isinstance(column, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(column), np.nan, column.filled(0).astype(np.float64))
    return column.astype(np.float64)


def _typed(cells: list[str], column: Mapping[str, Any]) -> npt.NDArray[Any]:
    kind, blank = column["type"], column["blank"]
    if kind == "float64":
        return np.array([float(cell) if cell else np.nan for cell in cells], dtype=np.float64)
    if kind == "bool":
        return _masked([cell == "true" if cell else None for cell in cells], np.bool_, blank)
    if kind == "text":
        return np.array(cells, dtype=object)
    # A width without a number holds every value.
    return integers([int(cell) if cell and cell != "auto" else None for cell in cells], blank or kind == "width")


def integers(values: Sequence[int | None], blank: bool) -> npt.NDArray[Any]:
    """Returns integers, some of which may be None if `blank`: as int64, or if that cannot hold one, as Python integers
    (dtype object).
    """
    if all(value is None or -(2**63) <= value < 2**63 for value in values):
        return _masked(values, np.int64, blank)
    return np.array(values, dtype=object)


def _masked(values: Sequence[Any], dtype: Any, blank: bool) -> npt.NDArray[Any]:
    if not blank:
        return np.array(values, dtype=dtype)
    filled = np.array([0 if value is None else value for value in values], dtype=dtype)
    return np.ma.MaskedArray(filled, mask=[value is None for value in values])


def _of_axis(cells: list[str]) -> npt.NDArray[Any]:
    """Returns values as a user wrote them; blank if a design has none."""
    filled = [cell for cell in cells if cell != ""]
    if filled:
        try:
            return integers([_integer(cell) if cell else None for cell in cells], filled != cells)
        except ValueError:
            pass
        try:
            return np.array([_number(cell) for cell in cells], dtype=np.float64)
        except ValueError:
            pass
        if set(filled) <= {"true", "false"}:
            return _masked([cell == "true" if cell else None for cell in cells], np.bool_, filled != cells)
    return np.array(cells, dtype=object)


def _integer(cell: str) -> int:
    # Python also accepts 1_000.
    if not (cell.removeprefix("-").isdecimal() and cell.isascii()):
        raise ValueError(cell)
    return int(cell)


def _number(cell: str) -> float:
    if cell == "":
        return float("nan")
    if "_" in cell or cell.strip("+-").lower() in ("nan", "infinity"):
        raise ValueError(cell)
    return float(cell)
