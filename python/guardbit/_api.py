"""The commands as functions."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from . import _guardbit, _tables
from ._calibration import Method, named
from ._graph import Graph
from ._inputs import Folder, Hw, Model, Samples, Sets, sets, value
from ._progress import Progress, shown
from ._results import Bundle, Comparison, Exploration, Quantized, Result, Run, Shard, Size, Sweep

_Out = str | os.PathLike[str] | None
_Progress = bool | Progress | None
_Mode = Literal["propagated", "isolated"]
_Stats = Literal["none", "events", "values", "full"]
_Task = Literal["classify", "regress", "detect"]
_Format = Literal["csv", "parquet"]
#: A figure of a layer and sample: exact codes and those of the hardware in, a number (or several by name) out.
Statistic = Callable[[npt.NDArray[Any], npt.NDArray[Any]], Any]
_R = TypeVar("_R", bound=Result)

# Axes whose values are files or networks; those of `hw` may be the content of a file.
_SAMPLES = ("input", "labels")


def load(
    path: str | os.PathLike[str],
    *,
    profile: str | None = None,
    from_: str | Sequence[str] = (),
    to: str | Sequence[str] = (),
    dim: Mapping[str, int] | None = None,
) -> Graph:
    """Reads a network: .tflite, .onnx or graph YAML. `profile` is the runtime whose results a TFLite network has.

    Tensors `from_` become inputs and tensors `to` the outputs: the rest is left out, and what lies behind `to` need not be supported.
    `dim` gives axes that an ONNX file leaves open their lengths: {"tokens": 128}, or {"x:1": 128} for axis 1 of the input x.
    Every function that takes a network takes the part, at these lengths.
    """
    return Graph._load(Path(path).absolute(), profile, _names(from_), _names(to), _lengths(dim))


def presets() -> dict[str, str]:
    """The accelerators that come with guardbit: descriptions by name."""
    return dict(_guardbit.presets())


def accelerator(hw: Hw, *, set: Sets | None = None) -> dict[str, Any]:
    """An accelerator with every default filled in, as its file has it."""
    with _inputs() as folder:
        resolved: dict[str, Any] = json.loads(_guardbit.accelerator(folder.hw(hw), sets(set)))
        return resolved


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
    sums: Sequence[str | int] = (),
    cost: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    format: _Format = "csv",
    statistic: Statistic | Mapping[str, Statistic] | None = None,
    out: _Out = None,
    force: bool = False,
    threads: int | None = None,
    progress: _Progress = None,
) -> Run:
    """Runs a network on an accelerator, as `guardbit run` does.

    `x` are samples along the first axis: codes in the input's dtype, or float32 real values; a mapping for several inputs; without
    them `random` samples are run. `y` has one class per sample. `statistic` is called with the exact codes that every accelerated
    layer makes of every sample, and with those of the hardware (`(exact, simulated)`, arrays of the layer's output); what it
    gives, a number or several by name, stands in `.statistics`.
    """
    rows: list[dict[str, Any]] = []
    observer = None if statistic is None else _observer(statistic, rows)
    with _inputs() as folder:
        arguments = {
            "model": folder.model(model),
            "hw": folder.hw(hw),
            "layer": None if layer is None else str(layer),
            "events": events,
            "tensors": tensors,
            "histograms": histograms,
            "sums": [str(one) for one in sums],
            "cost": _costs(cost),
            "format": format,
            "common": _common(folder, x, y, set, mode, stats, requantize, _read_as(model, profile, from_, to, dim), task, output, random, samples, seed),
        }
        result = _called(_guardbit.run, Run, arguments, out, force, threads, progress, statistic=observer)
    if statistic is not None:
        result.statistics = _tidy(rows)
    return result


def sweep(
    model: Model | Sequence[Model],
    hw: Hw | Sequence[Hw],
    x: Samples | None = None,
    y: Samples | None = None,
    *,
    axes: Mapping[str, Any] | None = None,
    zip: Sequence[Sequence[str]] = (),
    where: str | Sequence[str] = (),
    bits: str | Sequence[int] | None = None,
    overflow: Sequence[str] = (),
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
    out: _Out = None,
    force: bool = False,
    threads: int | None = None,
    progress: _Progress = None,
) -> Sweep:
    """Runs a network at many settings, as `guardbit sweep` does.

    `axes` gives values by key, as a list, a range or a text ('12..=16'): keys of the accelerator, or arguments of a run (model,
    hw, mode, seed, input, ...). A sweep with `out` that was interrupted goes on where it was. `shard` is (I, N): part I of N alone,
    for `merge`. Sweeps with the same `cache` share their points.
    """
    with _inputs() as folder:
        arguments = {
            "models": [folder.model(one) for one in _several(model)],
            "hws": [folder.hw(one) for one in _several(hw)],
            "varied": _varied(folder, axes, zip, where),
            "level": level,
            "bits": bits if bits is None or isinstance(bits, str) else ",".join(map(str, bits)),
            "overflow": list(overflow),
            "shard": shard if shard is None or isinstance(shard, str) else "{}/{}".format(*shard),
            "cache": None if cache is None else os.fspath(cache),
            "format": format,
            "common": _common(
                folder, x, y, set, mode, stats, requantize, _read_as(model, profile, from_, to, dim), task, output, random, samples, seed
            ),
        }
        kind = Sweep if shard is None else Shard
        return _called(_guardbit.sweep, kind, arguments, out, force, threads, progress)


def merge(
    shards: Sequence[str | os.PathLike[str] | Result], *, out: _Out = None, force: bool = False
) -> Sweep:
    """Makes one sweep of its shards: folders, or what `sweep` gave. Equal to the sweep in one piece, byte by byte."""
    to, temporary = _target(out)
    _guardbit.merge(_folders(shards), to, force, shown(False))
    return Sweep(to, temporary)


def size(
    model: Model,
    hw: Hw,
    x: Samples | None = None,
    y: Samples | None = None,
    *,
    budget: str | None = None,
    area: str | None = None,
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
    out: _Out = None,
    force: bool = False,
    threads: int | None = None,
    progress: _Progress = None,
) -> Size:
    """Finds the width that every accumulator needs, as `guardbit size` does; `budget` is 'mismatch=0.1%' or 'accuracy=1%'."""
    with _inputs() as folder:
        arguments = {
            "model": folder.model(model),
            "hw": folder.hw(hw),
            "budget": budget,
            "area": area,
            "format": format,
            "common": _common(
                folder, x, y, set, mode, None, requantize, _read_as(model, profile, from_, to, dim), task, output, random, samples, seed
            ),
        }
        return _called(_guardbit.size, Size, arguments, out, force, threads, progress)


def explore(
    model: Model,
    hw: Hw,
    x: Samples | None = None,
    y: Samples | None = None,
    *,
    axes: Mapping[str, Any] | None = None,
    zip: Sequence[Sequence[str]] = (),
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
    out: _Out = None,
    force: bool = False,
    threads: int | None = None,
    progress: _Progress = None,
) -> Exploration:
    """Explores designs of an accelerator, as `guardbit explore` does: what each loses, takes and costs, and which no other beats.

    `axes`, `zip` and `where` are those of `sweep`, `budget` as 'accuracy=1%', `objective` of 'cycles', 'latency', 'area' and
    'energy', `cost` cost models by name or file. An exploration with `out` that was interrupted goes on where it was.
    """
    with _inputs() as folder:
        arguments = {
            "model": folder.model(model),
            "hw": folder.hw(hw),
            "varied": _varied(folder, axes, zip, where),
            "budget": budget,
            "objective": [objective] if isinstance(objective, str) else list(objective),
            "cost": _costs(cost),
            "common": _common(
                folder, x, y, set, mode, stats, requantize, _read_as(model, profile, from_, to, dim), task, output, random, samples, seed
            ),
        }
        return _called(_guardbit.explore, Exploration, arguments, out, force, threads, progress)


def compare(results: Sequence[str | os.PathLike[str] | Result]) -> Comparison:
    """Puts finished results of one kind side by side, as `guardbit compare` does: folders, or what the functions gave."""
    return Comparison(json.loads(_guardbit.compare(_folders(results))))


def vectors(
    model: Model,
    hw: Hw,
    layer: str | int,
    x: Samples | None = None,
    *,
    cases: int = 32,
    formats: Sequence[str] = ("dec",),
    waves: Sequence[str] = (),
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
    """Exports a layer as test vectors for RTL, as `guardbit vectors` does."""
    with _inputs() as folder:
        arguments = {
            "model": folder.model(model),
            "hw": folder.hw(hw),
            "layer": str(layer),
            "cases": cases,
            "formats": list(formats),
            "waves": list(waves),
            "byte_slots": byte_slots,
            "common": _common(
                folder, x, None, set, mode, None, requantize, _read_as(model, profile, from_, to, dim), None, None, random, samples, seed
            ),
        }
        return _called(_guardbit.vectors, Bundle, arguments, out, force, threads, progress)


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
    layers: Sequence[str] = (),
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
    out: _Out = None,
    report: _Out = None,
    force: bool = False,
    threads: int | None = None,
    progress: _Progress = None,
) -> Quantized:
    """Quantizes a float ONNX network, as `guardbit quantize` does: `out` is the ONNX file, `report` the folder of its tables.

    `calibration` are unlabelled float32 samples, `x` and `y` other samples and their classes. A method is a name, or a function
    that gets what was `Observed` of a tensor and gives the least and the greatest real value that its codes are to cover.
    """
    (name, function), (weight_name, weight_function) = named(method), named(weight_method)
    folder_of_tables, temporary = _target(report)
    file = Path(out) if out is not None else folder_of_tables.parent / f"{Path(model).stem}_quantized.onnx"
    if out is None and temporary is None:
        raise TypeError("report without out: name the ONNX file too")
    with _inputs() as folder:
        arguments = {
            "model": os.path.abspath(model),
            "from": _names(from_),
            "to": _names(to),
            "dim": _lengths(dim),
            "calibration": folder.samples("calibration", calibration),
            "samples": samples,
            "seed": seed,
            "test": folder.samples("x", x),
            "labels": folder.samples("y", y),
            "output_name": output,
            "hw": None if hw is None else folder.hw(hw),
            "set": sets(set),
            "mixed": mixed,
            "dynamic": dynamic,
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
            "layers": list(layers),
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
    with tempfile.TemporaryDirectory(prefix="guardbit-") as folder:
        yield Folder(folder)


def _target(out: _Out) -> tuple[Path, tempfile.TemporaryDirectory[str] | None]:
    """The folder for results, and what removes it where it is nobody's."""
    if out is not None:
        return Path(out), None
    temporary = tempfile.TemporaryDirectory(prefix="guardbit-")
    return Path(temporary.name) / "out", temporary


def _called(
    command: Callable[..., None],
    kind: type[_R],
    arguments: dict[str, Any],
    out: _Out,
    force: bool,
    threads: int | None,
    progress: _Progress,
    **more: Any,
) -> _R:
    to, temporary = _target(out)
    bar = shown(progress)
    try:
        command(json.dumps(arguments), to, force, bar, threads, **more)
    finally:
        _close(bar)
    return kind(to, temporary)


def _close(bar: Any) -> None:
    close = getattr(bar, "close", None)
    if close is not None:
        close()


def _common(
    folder: Folder,
    x: Samples | None,
    y: Samples | None,
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
) -> dict[str, Any]:
    if x is not None and random is not None:
        raise TypeError("x and random exclude each other")
    return {
        "input": folder.samples("x", x),
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
        **read_as,
    }


def _read_as(
    model: Any,
    profile: str | None,
    from_: str | Sequence[str],
    to: str | Sequence[str],
    dim: Mapping[str, int] | None,
) -> dict[str, Any]:
    """How networks are read: a graph was read with its own profile, as a part of its own."""
    given = {"from": _names(from_), "to": _names(to), "dim": _lengths(dim)}
    own = [one.cut if isinstance(one, Graph) else given for one in _several(model)]
    parts = [given] if any(given.values()) else own
    if any(part != parts[0] for part in parts):
        raise TypeError("the networks of a sweep are different parts: give networks that were loaded with the same from_, to and dim")
    return {
        "profile": model.profile if profile is None and isinstance(model, Graph) else profile,
        **(parts[0] if parts else {}),
    }


def _lengths(dim: Mapping[str, int] | None) -> dict[str, int]:
    return {axis: int(length) for axis, length in (dim or {}).items()}


def _names(one_or_more: str | Sequence[str]) -> list[str]:
    return [one_or_more] if isinstance(one_or_more, str) else list(one_or_more)


def _several(one_or_more: Any) -> list[Any]:
    return list(one_or_more) if isinstance(one_or_more, (list, tuple)) else [one_or_more]


def _folders(results: Sequence[str | os.PathLike[str] | Result]) -> list[str | os.PathLike[str]]:
    return [os.fspath(one.folder if isinstance(one, Result) else one) for one in results]


def _costs(cost: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[str]:
    return [os.fspath(one) for one in ([cost] if isinstance(cost, (str, os.PathLike)) else cost)]


def _varied(
    folder: Folder, axes: Mapping[str, Any] | None, zip: Sequence[Sequence[str]], where: str | Sequence[str]
) -> dict[str, Any]:
    return {
        "axes": [[key, _values(folder, key, values)] for key, values in (axes or {}).items()],
        "zip": [list(keys) for keys in zip],
        "where": [where] if isinstance(where, str) else list(where),
    }


def _values(folder: Folder, key: str, values: Any) -> str | list[str]:
    """The values of an axis: a text as it is, others one by one."""
    if isinstance(values, str):
        return values
    if key == "model":
        return [folder.model(one) for one in values]
    if key == "hw":
        return [folder.hw(one) for one in values]
    if key in _SAMPLES:
        return [str(folder.samples(f"{key}{index}", one)) for index, one in enumerate(values)]
    return [value(one) for one in values]


def _observer(
    statistic: Statistic | Mapping[str, Statistic], rows: list[dict[str, Any]]
) -> Callable[[str, int, npt.NDArray[Any], npt.NDArray[Any]], None]:
    if isinstance(statistic, Mapping):
        functions = dict(statistic)
    else:
        functions = {getattr(statistic, "__name__", "statistic"): statistic}

    def observe(layer: str, sample: int, exact: npt.NDArray[Any], simulated: npt.NDArray[Any]) -> None:
        row: dict[str, Any] = {"sample": sample, "layer": layer}
        for name, function in functions.items():
            figure = function(exact, simulated)
            row.update(figure if isinstance(figure, Mapping) else {name: figure})
        rows.append(row)

    return observe


def _tidy(rows: list[dict[str, Any]]) -> Any:
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
    return _tables.of_columns({name: np.array([row.get(name) for row in rows]) for name in names})
