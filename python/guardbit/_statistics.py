"""User-defined figures: functions that are called with the results of every layer for every sample."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _tables
from ._errors import GuardbitError

#: User-defined figure of a layer and sample. It gets the exact codes and the codes of the hardware, and returns a number, several
#: numbers, an array, or any of these by name. A function with a parameter `sums` or `events` gets these too.
Statistic = Callable[..., Any]

#: Maximum number of elements of one array; each becomes a column.
_MOST_NUMBERS = 10_000


class Sums(NamedTuple):
    """Sums of every dot product of a layer for one sample, in the shape of its output."""

    #: Sums with unlimited widths, including a preloaded bias.
    exact: npt.NDArray[np.int64]
    #: Sums that the last level delivered, in the unit at the end of the datapath.
    delivered: npt.NDArray[np.int64]


class Collected:
    """Collects the results of user-defined functions for every layer and sample; the extension calls `observe`."""

    def __init__(self, statistic: Statistic | Mapping[str, Statistic], *, points: bool) -> None:
        if isinstance(statistic, Mapping):
            functions = dict(statistic)
        else:
            functions = {getattr(statistic, "__name__", "statistic"): statistic}
        self._functions = [(name, function, _asks(function)) for name, function in functions.items()]
        self._points = points
        self._rows: list[dict[str, Any]] = []
        #: Whether any of the functions takes sums or events.
        self.sums = any(asks for _, _, asks in self._functions)

    def observe(
        self,
        point: int,
        layer: str,
        sample: int,
        exact: npt.NDArray[Any],
        simulated: npt.NDArray[Any],
        sums: tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]] | None,
    ) -> None:
        row: dict[str, Any] = {"point": point} if self._points else {}
        row |= {"sample": sample, "layer": layer}
        for name, function, asks in self._functions:
            more: dict[str, Any] = {}
            if sums is not None:
                known = {"sums": Sums(*sums[:2]), "events": sums[2]}
                more = {key: known[key] for key in asks}
            found = function(exact, simulated, **more)
            where = (f"statistic: `{name}` returned ", f" for layer {layer} of sample {sample}")
            for key, figure in _figures(name, found, where):
                if key in row:
                    raise GuardbitError(f"statistic: two figures are called {key!r}: choose other names")
                row[key] = figure
        self._rows.append(row)

    def table(self) -> Any:
        """Returns a table with one row per layer and sample."""
        names: dict[str, None] = dict.fromkeys(["point", "sample", "layer"] if self._points else ["sample", "layer"])
        for row in self._rows:
            names.update(dict.fromkeys(row))
        return _tables.of_columns({name: _column([row.get(name) for row in self._rows]) for name in names})


def _asks(function: Statistic) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return []
    return [name for name in ("sums", "events") if name in parameters]


def _figures(name: str, found: Any, where: tuple[str, str]) -> Iterator[tuple[str, Any]]:
    if isinstance(found, Mapping):
        for key, figure in found.items():
            if not isinstance(key, str):
                raise _no_figure(where, f"a mapping with the key {key!r}")
            yield from _figures(key, figure, where)
        return
    try:
        array = None if found is None or isinstance(found, (str, bytes)) else np.asarray(found)
    except ValueError:
        array = None
    if array is None or array.dtype.kind not in "biuf":
        raise _no_figure(where, repr(found) if found is None or isinstance(found, str) else f"an object of type {type(found).__name__}")
    if array.size > _MOST_NUMBERS:
        raise _no_figure(where, f"{array.size} numbers")
    if array.ndim == 0:
        yield name, array.item()
        return
    for index in np.ndindex(array.shape):
        yield "_".join([name, *map(str, index)]), array[index].item()


def _no_figure(where: tuple[str, str], found: str) -> GuardbitError:
    return GuardbitError(
        found.join(where), help=f"give a number, an array of at most {_MOST_NUMBERS} numbers, or a mapping of names to these"
    )


def _column(values: list[Any]) -> npt.NDArray[Any]:
    there = [value for value in values if value is not None]
    blank = len(there) < len(values)
    if any(isinstance(value, str) for value in there):
        return np.array(values, dtype=object)
    if any(isinstance(value, float) for value in there):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    if there and all(isinstance(value, bool) for value in there):
        filled = np.array([bool(value) for value in values])
        return np.ma.MaskedArray(filled, mask=[value is None for value in values]) if blank else filled
    return _tables.integers([None if value is None else int(value) for value in values], blank)
