"""Implementation of the commands' functions: arguments become a JSON request, and the output folder becomes a result."""

from __future__ import annotations

import inspect
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from . import _guardbit
from ._arguments import listed, path as path_, refused
from ._calibration import named
from ._errors import GuardbitError, translated
from ._graph import Graph
from ._inputs import Folder, Model, Wanted, sets, value
from ._progress import shown
from ._results import Bundle, Discrimination, Exploration, Quantized, Result, Run, Shard, Size, Sweep, Whole
from ._statistics import Collected
from ._table import TABLE

Out = str | os.PathLike[str] | None
_R = TypeVar("_R", bound=Result)
#: Type of results that a user's function extends.
_Observed = TypeVar("_Observed", bound=Run | Sweep)

# Axes whose values are files or networks; a value of `hw` may be the content of a file.
_SAMPLES = ("input", "labels")


def run(given: dict[str, Any]) -> Run:
    """Returns the result of a run."""
    return _observing(_guardbit.run, "run", Run, given)


def sweep(given: dict[str, Any]) -> Sweep:
    """Returns the result of a sweep, or of a shard of one."""
    return _observing(_guardbit.sweep, "sweep", Sweep if given["shard"] is None else Shard, given)


def size(given: dict[str, Any]) -> Size:
    """Returns the result of a sizing."""
    return _plain(_guardbit.size, "size", Size, given)


def explore(given: dict[str, Any]) -> Exploration:
    """Returns the result of an exploration."""
    return _plain(_guardbit.explore, "explore", Exploration, given)


def vectors(given: dict[str, Any]) -> Bundle:
    """Returns a bundle of test vectors, or the images of whole layers."""
    if not given["whole"]:
        return _plain(_guardbit.vectors, "vectors", Bundle, given)
    from ._commands import vectors as function

    # Whole layers have no cases and no further formats; what the caller sets is refused by the command.
    parameters = inspect.signature(function).parameters
    unset = {name: None for name in ("cases", "formats") if given[name] == parameters[name].default}
    return _plain(_guardbit.vectors, "vectors", Whole, given | unset)


def discriminate(given: dict[str, Any]) -> Discrimination:
    """Returns the inputs that tell accelerators apart."""
    with inputs() as folder:
        return _called(_guardbit.discriminate, Discrimination, _request("discriminate", given, folder, dict), given, folder)


def quantize(given: dict[str, Any]) -> Quantized:
    """Returns a quantized network, with the folder of its tables."""
    (name, function), (weight_name, weight_function) = named(given["method"]), named(given["weight_method"])
    if given["cache"] is not None and (function or weight_function):
        raise GuardbitError("cache: choices of a Python function cannot be cached, because a change of the function cannot be detected")
    folder_of_tables, temporary = target(given["report"])
    model, out, calibration = given["model"], given["out"], given["calibration"]
    file = Path(out) if out is not None else folder_of_tables.parent / f"{Path(model).stem}_quantized.onnx"
    if out is None and temporary is None:
        raise GuardbitError("report: needs out, the ONNX file for the network")
    inputs_ = [] if not isinstance(calibration, Mapping) else list(map(str, calibration))
    # The inputs of a float network are float, whatever their names.
    wanted: Wanted = lambda: dict.fromkeys(inputs_ or ["x"], "float32")  # noqa: E731
    given = given | {"method": name, "weight_method": weight_name, "model": os.path.abspath(model)}
    with inputs() as folder:
        folder.names |= own_target(folder_of_tables, temporary)
        arguments = _request("quantize", given, folder, wanted) | {"report": os.fspath(folder_of_tables), "output": os.fspath(file)}
        bar = shown(given["progress"])
        try:
            _guardbit.quantize(json.dumps(arguments), file, given["force"], bar, given["threads"], function, weight_function)
        finally:
            _close(bar)
    return Quantized(folder_of_tables, temporary, file)


def _plain(call: Callable[..., None], command: str, kind: type[_R], given: dict[str, Any], **more: Any) -> _R:
    with inputs() as folder:
        read_as = _read_as(given)
        wanted = _wanted(given["model"], read_as, given["layer"] if command == "run" else None)
        arguments = _request(command, given | read_as | {"from_": read_as.get("from", [])}, folder, wanted)
        return _called(call, kind, arguments, given, folder, **more)


def _observing(call: Callable[..., None], command: str, kind: type[_Observed], given: dict[str, Any]) -> _Observed:
    """Returns the result of a command whose layers a user's function observes."""
    statistic = given["statistic"]
    collected = None if statistic is None else Collected(statistic, points=command == "sweep")
    result = _plain(call, command, kind, given, **_observed(collected))
    if collected is not None:
        result.statistics = collected.table()
    return result


def _request(command: str, given: Mapping[str, Any], folder: Folder, wanted: Wanted) -> dict[str, Any]:
    """Returns the arguments of a command by the names of its options."""
    return {option: _sent(kind, name, given[name], folder, wanted) for name, (option, kind) in TABLE[command].items()}


def _sent(kind: str, name: str, given: Any, folder: Folder, wanted: Wanted) -> Any:
    """Returns a checked argument in the form of the JSON request."""
    if given is None:
        return None
    match kind:
        case "network":
            return folder.model(given)
        case "networks":
            return [folder.model(one) for one in listed(name, given)]
        case "accelerator":
            return folder.hw(given)
        case "accelerators":
            return [folder.hw(one) for one in listed(name, given)]
        case "samples":
            return folder.samples(name, given, wanted)
        case "labels":
            return folder.samples(name, given)
        case "overrides":
            return sets(given)
        case "lengths":
            return [f"{axis}={length}" for axis, length in given.items()]
        case "by_key":
            return _axes(folder, given, wanted)
        case "path":
            return os.fspath(given)
    return given if isinstance(given, (str, bool, int, float)) else list(given)


@contextmanager
def inputs() -> Iterator[Folder]:
    with tempfile.TemporaryDirectory(prefix="guardbit-") as path:
        folder = Folder(path)
        with translated(folder.names):
            yield folder


def target(out: Out) -> tuple[Path, tempfile.TemporaryDirectory[str] | None]:
    """Returns the output folder, and the temporary folder that owns it if the user named none."""
    if out is not None:
        return Path(out), None
    temporary = tempfile.TemporaryDirectory(prefix="guardbit-")
    return Path(temporary.name) / "out", temporary


def own_target(to: Path, temporary: tempfile.TemporaryDirectory[str] | None) -> dict[str, str]:
    """Returns the replacement of the path in messages if the user named no folder."""
    return {} if temporary is None else {str(to): "the folder for temporary results", temporary.name: "the folder for temporary results"}


def _called(
    call: Callable[..., None],
    kind: type[_R],
    arguments: dict[str, Any],
    given: Mapping[str, Any],
    folder: Folder,
    **more: Any,
) -> _R:
    to, temporary = target(given["out"])
    folder.names |= own_target(to, temporary)
    bar = shown(given["progress"])
    try:
        call(json.dumps(arguments | {"output_dir": os.fspath(to)}), to, given["force"], bar, given["threads"], **more)
    finally:
        _close(bar)
    return kind(to, temporary)


def _observed(collected: Collected | None) -> dict[str, Any]:
    return {} if collected is None else {"statistic": collected.observe, "sums": collected.sums}


def _close(bar: Any) -> None:
    close = getattr(bar, "close", None)
    if close is not None:
        close()


def _read_as(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments for reading networks; a graph keeps the profile and the part with which it was read."""
    model, profile = arguments["model"], arguments["profile"]
    given = {"from": names(arguments["from_"]), "to": names(arguments["to"]), "dim": dict(arguments["dim"] or {})}
    own = [one.cut if isinstance(one, Graph) else given for one in _several("model", model)]
    parts = [given] if any(given.values()) else own
    if any(part != parts[0] for part in parts):
        raise GuardbitError("model: the networks of a sweep were loaded with different parts: use the same from_, to and dim")
    return {
        "profile": model.profile if profile is None and isinstance(model, Graph) else profile,
        **(parts[0] if parts else {}),
    }


def _wanted(model: Any, read_as: Mapping[str, Any], layer: Any) -> Wanted:
    """Returns the dtypes of the inputs: of the networks if all agree, or of the layer's inputs."""

    def ask() -> Mapping[str, str]:
        try:
            networks = [_network(one, read_as) for one in _several("model", model)]
        except (GuardbitError, OSError):
            # The command reads the network again and reports its errors.
            return {}
        read = [one.layer_inputs(layer) if layer is not None else one.inputs for one in networks]
        types = [{tensor["name"]: tensor["dtype"] for tensor in inputs} for inputs in read]
        return types[0] if types and all(one == types[0] for one in types) else {}

    return ask


def _network(model: Model, read_as: Mapping[str, Any]) -> _guardbit.Network:
    cut = (read_as.get("from", []), read_as.get("to", []), read_as.get("dim", {}))
    if isinstance(model, (bytes, bytearray, memoryview)):
        model = Graph(bytes(model))
    path = model.path if isinstance(model, Graph) else Path(os.fspath(model))
    return _guardbit.Network(path, read_as.get("profile"), *cut)


def names(one_or_more: str | Sequence[str]) -> list[str]:
    return [one_or_more] if isinstance(one_or_more, str) else list(one_or_more)


def _several(name: str, one_or_more: Any) -> list[Any]:
    return listed(name, one_or_more)


def folders(name: str, results: Any) -> list[str | os.PathLike[str]]:
    return [os.fspath(one.folder) if isinstance(one, Result) else path_(name, one) for one in listed(name, results)]


def _axes(folder: Folder, axes: Mapping[str, Any], wanted: Wanted) -> list[list[Any]]:
    # Each point uses its value of the axis as an override.
    folder.names |= {f"--set {key}=": f"axes['{key}']: " for key in axes}
    return [[key, _values(folder, key, values, wanted)] for key, values in axes.items()]


def _values(folder: Folder, key: str, values: Any, wanted: Wanted) -> str | list[str]:
    """Returns the values of an axis: a text is unchanged, other values become a list."""
    name = f"axes[{key!r}]"
    if isinstance(values, str):
        return str(values)
    if key in _SAMPLES and isinstance(values, np.ndarray):
        values = [values]
    several = listed(name, values)
    if any(one is None for one in several):
        raise refused(name, "values", None)
    if key == "model":
        return [folder.model(one, name) for one in several]
    if key == "hw":
        return [folder.hw(one, name) for one in several]
    if key in _SAMPLES:
        return [str(folder.samples(f"{name}[{index}]", one, wanted if key == "input" else None)) for index, one in enumerate(several)]
    return [value(name, one) for one in several]
