"""Kinds of arguments: one for every name, which checks and converts the argument before any work starts."""

from __future__ import annotations

import functools
import inspect
import itertools
import operator
import os
import reprlib
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

import numpy as np

from . import _guardbit
from ._errors import GuardbitError, attributed
from ._table import TABLE

_P = ParamSpec("_P")
_T = TypeVar("_T")

#: Function that checks and converts an argument; the first parameter is its name, for messages.
Kind = Callable[[str, Any], Any]

#: Whole numbers of 64 bits.
_MOST = 2**64 - 1


def refused(name: str, expected: str, found: Any) -> GuardbitError:
    """Returns the error of an argument with an unexpected value."""
    return GuardbitError(f"{name}: expected {expected}, found {_shown(found)}")


def _shown(found: Any) -> str:
    if isinstance(found, (str, int, float, bool, np.generic)) or found is None:
        return reprlib.repr(found.item() if isinstance(found, np.generic) else found)
    return f"an object of type {type(found).__name__}"


def whole(least: int, most: int) -> Kind:
    """Returns the kind of whole numbers from `least` to `most`."""
    expected = f"a whole number from {least} to {most}"

    def take(name: str, given: Any) -> int:
        if isinstance(given, (bool, np.bool_)):
            raise refused(name, expected, given)
        try:
            number = operator.index(given)
        except TypeError:
            raise refused(name, expected, given) from None
        if not least <= number <= most:
            raise refused(name, expected, given)
        return number

    return take


def number(name: str, given: Any) -> float:
    """Converts a finite number."""
    if isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, bool) and np.isfinite(float(given)):
        return float(given)
    raise refused(name, "a finite number", given)


def flag(name: str, given: Any) -> bool:
    """Converts True or False."""
    if isinstance(given, (bool, np.bool_)):
        return bool(given)
    raise refused(name, "True or False", given)


def text(name: str, given: Any) -> str:
    """Converts a text."""
    if isinstance(given, str):
        return str(given)
    raise refused(name, "a text", given)


def path(name: str, given: Any) -> str:
    """Converts a path."""
    if isinstance(given, (str, os.PathLike)):
        found = os.fspath(given)
        if isinstance(found, str):
            return found
    raise refused(name, "a path", given)


def text_or_index(name: str, given: Any) -> str:
    """Converts a name or an index."""
    return text(name, given) if isinstance(given, str) else str(whole(0, _MOST)(name, given))


def is_lone(given: Any) -> bool:
    """Returns whether an argument that may hold several values is a single one."""
    return (
        given is None
        or isinstance(given, (str, bytes, bool, int, float, np.generic, os.PathLike, Mapping))
        or (isinstance(given, np.ndarray) and given.ndim == 0)
        or not hasattr(given, "__iter__")
    )


def listed(name: str, given: Any) -> list[Any]:
    """Converts one value, or several: at most as many as a sweep may have points."""
    if is_lone(given):
        return [given.item() if isinstance(given, np.ndarray) else given]
    most = _guardbit.MOST_POINTS
    # A range is not expanded, and an iterator may be infinite.
    try:
        many = len(given) > most
    except TypeError:
        many = False
    except OverflowError:
        many = True
    values = [] if many else list(itertools.islice(given, most + 1))
    if many or len(values) > most:
        raise GuardbitError(f"{name}: more than {most} values")
    return values


def several(one: Kind) -> Kind:
    """Returns the kind of one or several values."""
    return lambda name, given: [one(name, value) for value in listed(name, given)]


def groups(name: str, given: Any) -> list[list[str]]:
    """Converts groups of texts; texts outside a group form one group."""
    values = listed(name, given)
    if values and all(isinstance(value, str) for value in values):
        return [[str(value) for value in values]]
    return [[text(name, key) for key in listed(name, group)] for group in values]


def widths(name: str, given: Any) -> str:
    """Converts widths, given as a text or one by one."""
    if isinstance(given, str):
        return str(given)
    return ",".join(str(whole(0, _MOST)(name, width)) for width in listed(name, given))


def shard(name: str, given: Any) -> str:
    """Converts a shard, given as 'I/N' or (I, N)."""
    if isinstance(given, str):
        return str(given)
    parts = listed(name, given)
    if len(parts) != 2:
        raise refused(name, "'I/N' or (I, N)", given)
    return "/".join(str(whole(0, _MOST)(name, part)) for part in parts)


def lengths(name: str, given: Any) -> dict[str, int]:
    """Converts lengths by axis."""
    if not isinstance(given, Mapping):
        raise refused(name, "a mapping of axes to lengths", given)
    return {text(name, axis): whole(1, _MOST)(f"{name}[{axis!r}]", length) for axis, length in given.items()}


def by_key(name: str, given: Any) -> Any:
    """Converts a mapping whose keys are texts."""
    if not isinstance(given, Mapping):
        raise refused(name, "a mapping of keys to values", given)
    return {text(name, key): value for key, value in given.items()}


def overrides(name: str, given: Any) -> Any:
    """Converts overrides, given as a mapping of keys to values, or as one or several KEY=VALUE."""
    return by_key(name, given) if isinstance(given, Mapping) else several(text)(name, given)


def watched(name: str, given: Any) -> Any:
    """Converts a flag that states whether to show progress, or an observer of it."""
    if isinstance(given, (bool, np.bool_)):
        return bool(given)
    if all(callable(getattr(given, method, None)) for method in ("start", "advance", "note")):
        return given
    raise refused(name, "True, False or an object with start, advance and note", given)


def functions(name: str, given: Any) -> Any:
    """Converts a function, or several by name."""
    if callable(given) or (isinstance(given, Mapping) and given and all(callable(one) for one in given.values())):
        return by_key(name, given) if isinstance(given, Mapping) else given
    raise refused(name, "a function, or a mapping of names to functions", given)


#: Kinds of the table, by name. Networks, accelerators, samples and methods are checked when they become files or functions.
_TAKEN: dict[str, Kind] = {
    "text": text,
    "flag": flag,
    "whole": whole(0, _MOST),
    "real": number,
    "path": path,
    "paths": several(path),
    "texts": several(text),
    "text_or_index": text_or_index,
    "texts_or_indices": several(text_or_index),
    "widths": widths,
    "shard": shard,
    "lengths": lengths,
    "groups": groups,
    "by_key": by_key,
    "overrides": overrides,
}

#: Kinds of arguments that are not in the table, or of functions that are not in the table.
KINDS: dict[str, Kind] = {
    "name": text,
    "profile": text,
    "layer": text_or_index,
    "dut_ofm": path,
    "dut_sums": path,
    "from_": several(text),
    "to": several(text),
    "dim": lengths,
    "set": overrides,
    "out": path,
    "page": path,
    "partial": flag,
    "force": flag,
    "threads": whole(1, _guardbit.MOST_THREADS),
    "progress": watched,
    "statistic": functions,
}


def taken(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Returns a function of a command that converts its arguments as the table states. None is kept."""
    rows = TABLE[function.__name__]
    return _checked(KINDS | {name: _TAKEN[kind] for name, (_, kind) in rows.items() if kind in _TAKEN}, function)


def checked(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Returns a function that converts its arguments by their kinds. None is kept."""
    return _checked(KINDS, function)


def _checked(kinds: Mapping[str, Kind], function: Callable[_P, _T]) -> Callable[_P, _T]:
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: _P.args, **named: _P.kwargs) -> _T:
        bound = signature.bind(*args, **named)
        for name, given in bound.arguments.items():
            default = signature.parameters[name].default
            if given is None and default in (None, ()):
                bound.arguments[name] = default
            elif name in kinds and given is not default:
                bound.arguments[name] = kinds[name](name, given)
        bound.apply_defaults()
        try:
            return function(*bound.args, **bound.kwargs)
        except GuardbitError as error:
            raise attributed(error, bound.arguments) from error.__cause__

    return call
