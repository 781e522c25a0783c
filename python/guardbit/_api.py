"""The commands as Python functions."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator, Literal, TypeVar

import numpy as np

from . import _guardbit
from ._arguments import checked, listed, path as path_, refused
from ._calibration import Method, named
from ._errors import GuardbitError, translated
from ._graph import Graph, suffix_of
from ._inputs import Folder, Hw, Model, Samples, Sets, Wanted, sets, value
from ._progress import Progress, shown
from ._results import Bundle, Comparison, Exploration, Quantized, Result, Run, Shard, Size, Sweep
from ._statistics import Collected, Statistic

_Out = str | os.PathLike[str] | None
_Progress = bool | Progress | None
_Mode = Literal["propagated", "isolated"]
_Stats = Literal["none", "events", "values", "full"]
_Task = Literal["classify", "regress", "detect"]
_Format = Literal["csv", "parquet"]
_R = TypeVar("_R", bound=Result)

# Axes whose values are files or networks; those of `hw` may be the content of a file.
_SAMPLES = ("input", "labels")


@checked()
def load(
    path: str | os.PathLike[str] | bytes,
    *,
    profile: str | None = None,
    from_: str | Sequence[str] = (),
    to: str | Sequence[str] = (),
    dim: Mapping[str, int] | None = None,
) -> Graph:
    """Reads a network: the path or the bytes of a .tflite, .onnx or graph YAML file. `profile` selects the runtime
    whose results a TFLite network reproduces.

    Tensors `from_` become inputs and tensors `to` outputs. The rest of the network is left out, and operations after
    `to` need not be supported. `dim` sets axes whose lengths an ONNX file leaves open: {"tokens": 128}, or {"x:1": 128}
    for axis 1 of the input x. Every function that takes the returned network uses this part, with these lengths.
    """
    cut = {"from": _names(from_), "to": _names(to), "dim": dim or {}}
    if isinstance(path, (bytes, bytearray, memoryview)):
        content = bytes(path)
        return Graph._of_files({f"network{suffix_of(content)}": content}, profile, cut)
    return Graph._load(Path(path_("path", path)).absolute(), profile, _names(from_), _names(to), dim)


def presets() -> dict[str, str]:
    """Returns the accelerators that are included in guardbit: descriptions by name."""
    return dict(_guardbit.presets())


def schema(of: Literal["graph", "hw", "study"]) -> dict[str, Any]:
    """Returns the JSON schema of graph YAML, of accelerator files or of study files."""
    found: dict[str, Any] = json.loads(_guardbit.schema(of))
    return found


@checked()
def accelerator(hw: Hw, *, set: Sets | None = None) -> dict[str, Any]:
    """Returns an accelerator as its file would define it, with every default filled in."""
    with _inputs() as folder:
        resolved: dict[str, Any] = json.loads(_guardbit.accelerator(folder.hw(hw), sets(set)))
        return resolved


@checked()
def run(
    model: Model,
    hw: Hw,
    x: Samples | None = None,
    y: Samples | None = None,
    *,
    set: Sets | None = None,
    mode: _Mode | None = None,
    stats: _Stats | None = None,
    requantize: str | None = None,
    profile: str | None = None,
    from_: str | Sequence[str] = (),
    to: str | Sequence[str] = (),
    dim: Mapping[str, int] | None = None,
    task: _Task | None = None,
    output: str | None = None,
    random: int | None = None,
    samples: int | None = None,
    seed: int | None = None,
    layer: str | int | None = None,
    events: int = 1000,
    tensors: bool = False,
    histograms: bool = False,
    sums: str | int | Sequence[str | int] = (),
    cost: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    format: _Format = "csv",
    statistic: Statistic | Mapping[str, Statistic] | None = None,
    plots: bool = True,
    report: bool = True,
    out: _Out = None,
    force: bool = False,
    threads: int | None = None,
    progress: _Progress = None,
) -> Run:
    """Runs a network on an accelerator, like `guardbit run`.

    `x` holds samples along the first axis: codes in the input's dtype, or real values, which become float32. Use a
    mapping for several inputs. Without `x`, `random` samples are run. `y` holds one class per sample.

    `statistic` is called for every accelerated layer and every sample with the exact codes and with those of the
    hardware (`(exact, simulated)`, arrays in the shape of the layer's output). If it has parameters named `sums` and
    `events`, it receives these too. It returns a number, an array, or several of these by name, which become columns of
    `.statistics`.

    With `plots=False` and `report=False` only tables are written, which takes the least time.
    """
    collected = None if statistic is None else Collected(statistic, points=False)
    with _inputs() as folder:
        read_as = _read_as(model, profile, from_, to, dim)
        wanted = _wanted(model, read_as, layer)
        arguments = {
            "model": folder.model(model),
            "hw": folder.hw(hw),
            "layer": layer,
            "events": events,
            "tensors": tensors,
            "histograms": histograms,
            "sums": sums,
            "cost": cost,
            "format": format,
            "common": _common(
                folder, x, y, wanted, set, mode, stats, requantize, read_as, task, output, random, samples, seed, plots, report
            ),
        }
        result = _called(_guardbit.run, Run, arguments, out, force, threads, progress, folder, **_observed(collected))
    if collected is not None:
        result.statistics = collected.table()
    return result


@checked()
def sweep(
    model: Model | Sequence[Model],
    hw: Hw | Sequence[Hw],
    x: Samples | None = None,
    y: Samples | None = None,
    *,
    axes: Mapping[str, Any] | None = None,
    zip: Sequence[str] | Sequence[Sequence[str]] = (),
    where: str | Sequence[str] = (),
    bits: str | int | Sequence[int] | None = None,
    overflow: str | Sequence[str] = (),
    level: str | None = None,
    set: Sets | None = None,
    mode: _Mode | None = None,
    stats: _Stats | None = None,
    requantize: str | None = None,
    profile: str | None = None,
    from_: str | Sequence[str] = (),
    to: str | Sequence[str] = (),
    dim: Mapping[str, int] | None = None,
    task: _Task | None = None,
    output: str | None = None,
    random: int | None = None,
    samples: int | None = None,
    seed: int | None = None,
    shard: str | tuple[int, int] | None = None,
    cache: _Out = None,
    format: _Format = "csv",
    statistic: Statistic | Mapping[str, Statistic] | None = None,
    plots: bool = True,
    report: bool = True,
    out: _Out = None,
    force: bool = False,
    threads: int | None = None,
    progress: _Progress = None,
) -> Sweep:
    """Runs a network with many settings, like `guardbit sweep`.

    `axes` holds values by key, as one value, a list, a range or a text ('12..=16'). Keys are those of the accelerator,
    or arguments of a run (model, hw, mode, seed, input, ...). An interrupted sweep with `out` continues where it
    stopped. `shard` is (I, N): only part I of N, for `merge`. Sweeps with the same `cache` share their points.
    `statistic` is that of `run`, for every point. All points are run then, and the first column of `.statistics` is the
    point: its row in the table.
    """
    collected = None if statistic is None else Collected(statistic, points=True)
    with _inputs() as folder:
        read_as = _read_as(model, profile, from_, to, dim)
        wanted = _wanted(model, read_as, None)
        arguments = {
            "models": [folder.model(one) for one in _several("model", model)],
            "hws": [folder.hw(one) for one in _several("hw", hw)],
            "varied": _varied(folder, axes, zip, where, wanted),
            "level": level,
            "bits": bits,
            "overflow": overflow,
            "shard": shard,
            "cache": cache,
            "format": format,
            "common": _common(
                folder, x, y, wanted, set, mode, stats, requantize, read_as, task, output, random, samples, seed, plots, report
            ),
        }
        kind = Sweep if shard is None else Shard
        result = _called(_guardbit.sweep, kind, arguments, out, force, threads, progress, folder, **_observed(collected))
    if collected is not None:
        result.statistics = collected.table()
    return result


@checked()
def merge(
    shards: str | os.PathLike[str] | Result | Sequence[str | os.PathLike[str] | Result],
    *,
    partial: bool = False,
    out: _Out = None,
    force: bool = False,
) -> Sweep:
    """Merges the shards of a sweep: folders, or results of `sweep`. The result equals a sweep in one piece, byte by
    byte. With `partial`, missing points are allowed; `sweep` with the folder as `out` adds them.
    """
    to, temporary = _target(out)
    with translated(_own_target(to, temporary)):
        _guardbit.merge(_folders("shards", shards), to, force, shown(False), partial)
    return Sweep(to, temporary)


@checked()
def size(
    model: Model,
    hw: Hw,
    x: Samples | None = None,
    y: Samples | None = None,
    *,
    budget: str | None = None,
    area: str | None = None,
    grid: Literal["none", "coarse", "full"] = "full",
    format: _Format = "csv",
    set: Sets | None = None,
    mode: _Mode | None = None,
    requantize: str | None = None,
    profile: str | None = None,
    from_: str | Sequence[str] = (),
    to: str | Sequence[str] = (),
    dim: Mapping[str, int] | None = None,
    task: _Task | None = None,
    output: str | None = None,
    random: int | None = None,
    samples: int | None = None,
    seed: int | None = None,
    plots: bool = True,
    report: bool = True,
    out: _Out = None,
    force: bool = False,
    threads: int | None = None,
    progress: _Progress = None,
) -> Size:
    """Finds the required width of every accumulator, like `guardbit size`. `budget` is 'mismatch=0.1%' or 'accuracy=1%'."""
    with _inputs() as folder:
        read_as = _read_as(model, profile, from_, to, dim)
        wanted = _wanted(model, read_as, None)
        arguments = {
            "model": folder.model(model),
            "hw": folder.hw(hw),
            "budget": budget,
            "area": area,
            "grid": grid,
            "format": format,
            "common": _common(
                folder, x, y, wanted, set, mode, None, requantize, read_as, task, output, random, samples, seed, plots, report
            ),
        }
        return _called(_guardbit.size, Size, arguments, out, force, threads, progress, folder)


@checked()
def explore(
    model: Model,
    hw: Hw,
    x: Samples | None = None,
    y: Samples | None = None,
    *,
    axes: Mapping[str, Any] | None = None,
    zip: Sequence[str] | Sequence[Sequence[str]] = (),
    where: str | Sequence[str] = (),
    budget: str | None = None,
    objective: str | Sequence[str] = (),
    cost: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    set: Sets | None = None,
    mode: _Mode | None = None,
    stats: _Stats | None = None,
    requantize: str | None = None,
    profile: str | None = None,
    from_: str | Sequence[str] = (),
    to: str | Sequence[str] = (),
    dim: Mapping[str, int] | None = None,
    task: _Task | None = None,
    output: str | None = None,
    random: int | None = None,
    samples: int | None = None,
    seed: int | None = None,
    plots: bool = True,
    report: bool = True,
    out: _Out = None,
    force: bool = False,
    threads: int | None = None,
    progress: _Progress = None,
) -> Exploration:
    """Explores designs of an accelerator, like `guardbit explore`: the accuracy that each loses, its cost, and the
    Pareto front.

    `axes`, `zip` and `where` are those of `sweep`. `budget` is e.g. 'accuracy=1%'; `objective` is one or more of
    'cycles', 'latency', 'area' and 'energy'; `cost` holds cost models by name or file. An interrupted exploration with
    `out` continues where it stopped.
    """
    with _inputs() as folder:
        read_as = _read_as(model, profile, from_, to, dim)
        wanted = _wanted(model, read_as, None)
        arguments = {
            "model": folder.model(model),
            "hw": folder.hw(hw),
            "varied": _varied(folder, axes, zip, where, wanted),
            "budget": budget,
            "objective": objective,
            "cost": cost,
            "common": _common(
                folder, x, y, wanted, set, mode, stats, requantize, read_as, task, output, random, samples, seed, plots, report
            ),
        }
        return _called(_guardbit.explore, Exploration, arguments, out, force, threads, progress, folder)


@checked()
def compare(results: str | os.PathLike[str] | Result | Sequence[str | os.PathLike[str] | Result]) -> Comparison:
    """Compares finished results of one kind, like `guardbit compare`: folders, or results of the functions."""
    with translated({}):
        return Comparison(json.loads(_guardbit.compare(_folders("results", results))))


@checked()
def vectors(
    model: Model,
    hw: Hw,
    layer: str | int,
    x: Samples | None = None,
    *,
    cases: int = 32,
    formats: str | Sequence[str] = ("dec",),
    waves: str | Sequence[str] = (),
    byte_slots: bool = False,
    set: Sets | None = None,
    mode: _Mode | None = None,
    requantize: str | None = None,
    profile: str | None = None,
    from_: str | Sequence[str] = (),
    to: str | Sequence[str] = (),
    dim: Mapping[str, int] | None = None,
    random: int | None = None,
    samples: int | None = None,
    seed: int | None = None,
    out: _Out = None,
    force: bool = False,
    threads: int | None = None,
    progress: _Progress = None,
) -> Bundle:
    """Exports a layer as test vectors for RTL, like `guardbit vectors`."""
    with _inputs() as folder:
        read_as = _read_as(model, profile, from_, to, dim)
        wanted = _wanted(model, read_as, None)
        arguments = {
            "model": folder.model(model),
            "hw": folder.hw(hw),
            "layer": layer,
            "cases": cases,
            "formats": formats,
            "waves": waves,
            "byte_slots": byte_slots,
            "common": _common(
                folder, x, None, wanted, set, mode, None, requantize, read_as, None, None, random, samples, seed, True, True
            ),
        }
        return _called(_guardbit.vectors, Bundle, arguments, out, force, threads, progress, folder)


@checked(report=path_)
def quantize(
    model: str | os.PathLike[str],
    calibration: Samples,
    hw: Hw | None = None,
    *,
    from_: str | Sequence[str] = (),
    to: str | Sequence[str] = (),
    dim: Mapping[str, int] | None = None,
    x: Samples | None = None,
    y: Samples | None = None,
    method: str | Method = "min-max",
    weight_method: str | Method = "min-max",
    weights: str = "int8",
    activations: str = "uint8",
    per_tensor: bool = False,
    symmetric: bool = False,
    asymmetric_weights: bool = False,
    full_range: bool = False,
    power_of_two: bool = False,
    layers: str | Sequence[str] = (),
    mode: _Mode | None = None,
    mixed: str | None = None,
    equalize: bool = False,
    inline_functions: bool = False,
    correct_bias: bool = False,
    least_sqnr: float | None = None,
    dynamic: bool = False,
    set: Sets | None = None,
    output: str | None = None,
    samples: int | None = None,
    seed: int | None = None,
    cache: _Out = None,
    out: _Out = None,
    report: _Out = None,
    force: bool = False,
    threads: int | None = None,
    progress: _Progress = None,
) -> Quantized:
    """Quantizes a float ONNX network, like `guardbit quantize`. `out` is the ONNX file, `report` the folder of its
    tables.

    `calibration` holds unlabelled float32 samples; `x` and `y` hold other samples and their classes. A method is a
    name, or a function that receives what was `Observed` of a tensor and returns the least and the greatest real value
    that its codes must cover. An interrupted search continues from the finished layers in `cache`.
    """
    (name, function), (weight_name, weight_function) = named(method), named(weight_method)
    if cache is not None and (function or weight_function):
        raise GuardbitError("cache: what a function of your own chooses cannot be kept, since nothing says when the function is another")
    folder_of_tables, temporary = _target(report)
    path = path_("model", model)
    file = Path(out) if out is not None else folder_of_tables.parent / f"{Path(path).stem}_quantized.onnx"
    if out is None and temporary is None:
        raise GuardbitError("report: without out it has no network: name the ONNX file too")
    names = [] if not isinstance(calibration, Mapping) else list(map(str, calibration))
    # A float network has float inputs, whatever their names are.
    wanted: Wanted = lambda: dict.fromkeys(names or ["x"], "float32")  # noqa: E731
    with _inputs() as folder:
        folder.names |= _own_target(folder_of_tables, temporary)
        arguments = {
            "model": os.path.abspath(path),
            "from": _names(from_),
            "to": _names(to),
            "dim": dim or {},
            "calibration": folder.samples("calibration", calibration, wanted),
            "samples": samples,
            "seed": seed,
            "test": folder.samples("x", x, wanted),
            "labels": folder.samples("y", y),
            "output_name": output,
            "hw": None if hw is None else folder.hw(hw),
            "set": sets(set),
            "mixed": mixed,
            "dynamic": dynamic,
            "cache": cache,
            "report": str(folder_of_tables),
            "method": name,
            "weight_method": weight_name,
            "weights": weights,
            "activations": activations,
            "per_tensor": per_tensor,
            "symmetric": symmetric,
            "asymmetric_weights": asymmetric_weights,
            "full_range": full_range,
            "power_of_two": power_of_two,
            "layers": layers,
            "mode": mode,
            "equalize": equalize,
            "inline_functions": inline_functions,
            "correct_bias": correct_bias,
            "least_sqnr": least_sqnr,
        }
        bar = shown(progress)
        try:
            _guardbit.quantize(json.dumps(arguments), file, force, bar, threads, function, weight_function)
        finally:
            _close(bar)
    return Quantized(folder_of_tables, temporary, file)


@contextmanager
def _inputs() -> Iterator[Folder]:
    with tempfile.TemporaryDirectory(prefix="guardbit-") as path:
        folder = Folder(path)
        with translated(folder.names):
            yield folder


def _target(out: _Out) -> tuple[Path, tempfile.TemporaryDirectory[str] | None]:
    """Returns the folder for results, and the object that removes it if it is temporary."""
    if out is not None:
        return Path(out), None
    temporary = tempfile.TemporaryDirectory(prefix="guardbit-")
    return Path(temporary.name) / "out", temporary


def _own_target(to: Path, temporary: tempfile.TemporaryDirectory[str] | None) -> dict[str, str]:
    """Returns the name of a temporary folder in messages."""
    return {} if temporary is None else {str(to): "the folder for temporary results", temporary.name: "the folder for temporary results"}


def _called(
    command: Callable[..., None],
    kind: type[_R],
    arguments: dict[str, Any],
    out: _Out,
    force: bool,
    threads: int | None,
    progress: _Progress,
    folder: Folder,
    **more: Any,
) -> _R:
    to, temporary = _target(out)
    folder.names |= _own_target(to, temporary)
    bar = shown(progress)
    try:
        command(json.dumps(arguments), to, force, bar, threads, **more)
    finally:
        _close(bar)
    return kind(to, temporary)


def _observed(collected: Collected | None) -> dict[str, Any]:
    return {} if collected is None else {"statistic": collected.observe, "sums": collected.sums}


def _close(bar: Any) -> None:
    close = getattr(bar, "close", None)
    if close is not None:
        close()


def _common(
    folder: Folder,
    x: Samples | None,
    y: Samples | None,
    wanted: Wanted,
    set: Sets | None,
    mode: str | None,
    stats: str | None,
    requantize: str | None,
    read_as: dict[str, Any],
    task: str | None,
    output: str | None,
    random: int | None,
    samples: int | None,
    seed: int | None,
    plots: bool,
    report: bool,
) -> dict[str, Any]:
    if x is not None and random is not None:
        raise GuardbitError("x and random exclude each other")
    return {
        "input": folder.samples("x", x, wanted),
        "labels": folder.samples("y", y),
        "random": random,
        "samples": samples,
        "seed": seed,
        "task": task,
        "output": output,
        "mode": mode,
        "set": sets(set),
        "stats": stats,
        "requantize": requantize,
        "plots": plots,
        "report": report,
        **read_as,
    }


def _read_as(
    model: Any,
    profile: str | None,
    from_: Any,
    to: Any,
    dim: Mapping[str, int] | None,
) -> dict[str, Any]:
    """Returns how networks are read: a `Graph` is read with its own profile, and reduced to its own part."""
    given = {"from": _names(from_), "to": _names(to), "dim": dict(dim or {})}
    own = [one.cut if isinstance(one, Graph) else given for one in _several("model", model)]
    parts = [given] if any(given.values()) else own
    if any(part != parts[0] for part in parts):
        raise GuardbitError("model: the networks of a sweep are different parts: load them with the same from_, to and dim")
    return {
        "profile": model.profile if profile is None and isinstance(model, Graph) else profile,
        **(parts[0] if parts else {}),
    }


def _wanted(model: Any, read_as: Mapping[str, Any], layer: Any) -> Wanted:
    """Returns a function for the dtypes of the inputs that samples are for: those of the networks if all agree, or
    those that a layer reads.
    """

    def ask() -> Mapping[str, str]:
        try:
            networks = [_network(one, read_as) for one in _several("model", model)]
        except (GuardbitError, OSError):
            # The error is reported when the network is read for the work itself.
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


def _names(one_or_more: str | Sequence[str]) -> list[str]:
    return [one_or_more] if isinstance(one_or_more, str) else list(one_or_more)


def _several(name: str, one_or_more: Any) -> list[Any]:
    return listed(name, one_or_more)


def _folders(name: str, results: Any) -> list[str | os.PathLike[str]]:
    return [os.fspath(one.folder) if isinstance(one, Result) else path_(name, one) for one in listed(name, results)]


def _varied(
    folder: Folder, axes: Mapping[str, Any] | None, zip: Any, where: Any, wanted: Wanted
) -> dict[str, Any]:
    # Values of an axis are overrides, point by point.
    folder.names |= {f"--set {key}=": f"axes['{key}']: " for key in axes or {}}
    return {
        "axes": [[key, _values(folder, key, values, wanted)] for key, values in (axes or {}).items()],
        "zip": [list(keys) for keys in zip],
        "where": _names(where),
    }


def _values(folder: Folder, key: str, values: Any, wanted: Wanted) -> str | list[str]:
    """Returns the values of an axis: a text unchanged, other values one by one."""
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
