"""Conversion of arguments for the extension: arrays become files in a temporary folder, which the readers of files then read."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arguments import refused
from ._errors import GuardbitError, warn
from ._graph import Graph, file_name, plain, suffix_of

#: Network: a file, its content, or a graph.
Model = str | os.PathLike[str] | bytes | Graph
#: Accelerator: a preset's name, a file, or the content of a file.
Hw = str | os.PathLike[str] | Mapping[str, Any]
#: Samples: a .npy or .npz file, an array with the samples along its first axis, or an array per input.
Samples = str | os.PathLike[str] | npt.ArrayLike | Mapping[str, npt.ArrayLike]
#: Overrides of the accelerator: by key, or as KEY=VALUE.
Sets = Mapping[str, Any] | str | Sequence[str]
#: Function that returns the dtypes of the inputs by name; called only if they matter.
Wanted = Callable[[], Mapping[str, str]]

#: Dtypes of short floating-point codes, by the name in `ml_dtypes`.
_FLOATS = {
    "bfloat16": "bfloat16",
    "float8_e4m3fn": "float8_e4m3fn",
    "float8_e5m2": "float8_e5m2",
    "float8_e4m3fnuz": "float8_e4m3fnuz",
    "float8_e5m2fnuz": "float8_e5m2fnuz",
    "float8_e8m0fnu": "float8_e8m0",
    "float4_e2m1fn": "float4_e2m1",
}
#: Maximum number of samples in a range, which is expanded.
_MOST_IN_RANGE = 10**8


class Folder:
    """Files that represent arguments during the call."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        #: Argument that each file represents.
        self.names: dict[str, str] = {}
        self._made = 0

    def _file(self, argument: str, name: str) -> Path:
        """Returns the path of a new file with the given name, in a folder of its own."""
        folder = self.path / str(self._made)
        self._made += 1
        folder.mkdir()
        self.names[str(folder / name)] = argument
        # Folder in which a reader looks for further files.
        self.names[f"{folder}{os.sep}"] = ""
        return folder / name

    def model(self, model: Model, argument: str = "model") -> str:
        """Returns the path of a network."""
        if isinstance(model, Graph):
            if model.is_own:
                self.names[str(model.path)] = argument
            return os.fspath(model.path)
        if isinstance(model, (bytes, bytearray, memoryview)):
            file = self._file(argument, f"network{suffix_of(bytes(model))}")
            file.write_bytes(model)
            return str(file)
        if not isinstance(model, (str, os.PathLike)):
            raise refused(argument, "a path, a Graph or the bytes of a file", model)
        return os.path.abspath(os.fspath(model))

    def hw(self, hw: Hw, argument: str = "hw") -> str:
        """Returns the name or path of an accelerator."""
        if isinstance(hw, Mapping):
            file = self._file(argument, f"{file_name(str(hw.get('name', 'hw')))}.yaml")
            file.write_text(_json(argument, {"schema": 1, "name": "hw", **hw}))
            return str(file)
        if not isinstance(hw, (str, os.PathLike)):
            raise refused(argument, "a preset's name, a path or a mapping", hw)
        return os.fspath(hw)

    def samples(self, argument: str, samples: Samples | None, wanted: Wanted | None = None) -> str | None:
        """Returns the path of samples or labels. Arrays are written to files, in the dtype that `wanted` requires for
        their input.
        """
        if samples is None:
            return None
        if isinstance(samples, (str, os.PathLike)):
            return os.path.abspath(os.fspath(samples))
        name = re.sub(r"\W", "_", argument)
        if isinstance(samples, Mapping):
            arrays: dict[str, Any] = {}
            for key, array in samples.items():
                arrays[str(key)] = _array(f"{argument}[{key!r}]", array, wanted, str(key))
            file = self._file(argument, f"{name}.npz")
            # The keys are not Python arguments: any name is valid.
            np.savez(file, **arrays)
        else:
            array = _array(argument, samples, wanted, None)
            file = self._file(argument, f"{name}.npy")
            np.save(file, array)
        return str(file)


def _array(argument: str, given: Any, wanted: Wanted | None, name: str | None) -> npt.NDArray[Any]:
    """Returns an array of a dtype that files support, with unchanged values. Whole numbers of a dtype that numpy or
    Python chose become codes of the input's dtype. Other real values become float32, with a warning if that changes
    one.
    """
    expected = "an array, a list of numbers or a path"
    if isinstance(given, range) and not 0 <= given.stop <= _MOST_IN_RANGE * max(1, abs(given.step)):
        raise GuardbitError(f"{argument}: a range of more than {_MOST_IN_RANGE} samples")
    if not isinstance(given, (list, tuple, range, np.ndarray, np.generic, int, float)) and not hasattr(given, "__array__"):
        raise refused(argument, expected, given)
    try:
        array = np.asarray(given)
    except (ValueError, OverflowError, TypeError) as error:
        raise GuardbitError(f"{argument}: cannot become an array: {error}") from None
    if array.dtype.name in _FLOATS:
        return _codes(argument, array, wanted, name)
    if array.dtype.kind not in "biuf":
        raise GuardbitError(f"{argument}: expected {expected}, found dtype {array.dtype}", "guardbit::input::dtype")
    array = np.ascontiguousarray(array).reshape(array.shape)
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype.kind == "b":
        array = array.astype(np.int64)
    if array.dtype.kind == "f":
        return _float32(argument, array)
    # 8-bit and 16-bit codes are kept: pixels are not int8.
    if wanted is None or array.dtype.itemsize < 4:
        return array
    dtype = _dtype(wanted, name)
    if dtype is None:
        return array
    if dtype == "float32":
        return _float32(argument, array)
    # 4-bit codes have a byte each.
    if dtype in (*_FLOATS.values(), "float16"):
        target = np.dtype("uint16" if dtype in ("float16", "bfloat16") else "uint8")
    else:
        target = np.dtype({"int4": "int8", "uint4": "uint8"}.get(dtype, dtype))
    limits = np.iinfo(target)
    if array.size and not (limits.min <= int(array.min()) and int(array.max()) <= limits.max):
        outside = int(array.max()) if int(array.max()) > limits.max else int(array.min())
        raise GuardbitError(f"{argument}: code {outside} is outside {dtype}", "guardbit::input::range")
    return array.astype(target, copy=False)


def _codes(argument: str, array: npt.NDArray[Any], wanted: Wanted | None, name: str | None) -> npt.NDArray[Any]:
    """Returns the codes of an array of `ml_dtypes`, which files do not support."""
    found = _FLOATS[array.dtype.name]
    dtype = _dtype(wanted, name) if wanted is not None else None
    if dtype not in (None, found):
        raise GuardbitError(f"{argument}: found {found}, the input holds {dtype}", "guardbit::input::dtype")
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


def _dtype(wanted: Wanted, name: str | None) -> str | None:
    """Returns the dtype of an input, or of the only one."""
    types = wanted()
    if name is not None:
        return types.get(name)
    return next(iter(types.values()), None) if len(types) == 1 else None


def _float32(argument: str, array: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    if array.dtype == np.float32:
        return array
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = array.astype(np.float32)
        beyond = np.isinf(rounded) & np.isfinite(array)
        changed = (rounded.astype(np.longdouble) != array.astype(np.longdouble)) & ~np.isnan(rounded)
    if beyond.any():
        raise GuardbitError(f"{argument}: {array[beyond].flat[0]} is outside float32", "guardbit::input::range")
    count = int(changed.sum())
    if count:
        warn(f"{argument}: {count} of {array.size} values of {array.dtype} are not float32 numbers: each is rounded to the nearest")
    return rounded


def sets(given: Sets | None) -> list[str]:
    """Returns overrides as KEY=VALUE."""
    if given is None:
        return []
    if isinstance(given, Mapping):
        return [f"{key}={value('set', setting)}" for key, setting in given.items()]
    return [given] if isinstance(given, str) else list(given)


def value(argument: str, setting: Any) -> str:
    """Returns a value in the form of a YAML line."""
    return str(setting) if isinstance(setting, str) else _json(argument, setting)


def _json(argument: str, content: Any) -> str:
    try:
        return json.dumps(content, default=plain, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise GuardbitError(f"{argument}: a value has no form in YAML: {error}") from None
