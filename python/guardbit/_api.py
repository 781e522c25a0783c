"""Functions other than the commands that load a network."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from . import _guardbit
from ._arguments import checked, path as path_
from ._calls import Out, folders, inputs, names, own_target, target
from ._errors import translated
from ._graph import Graph, suffix_of
from ._inputs import Hw, Sets, sets
from ._progress import shown
from ._results import Comparison, LayerDiff, Result, Sweep, Whole


@checked
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
    cut = {"from": names(from_), "to": names(to), "dim": dim or {}}
    if isinstance(path, (bytes, bytearray, memoryview)):
        content = bytes(path)
        return Graph._of_files({f"network{suffix_of(content)}": content}, profile, cut)
    return Graph._load(Path(path_("path", path)).absolute(), profile, names(from_), names(to), dim)


def presets() -> dict[str, str]:
    """Returns the accelerators that are included in guardbit: descriptions by name."""
    return dict(_guardbit.presets())


def schema(of: Literal["cost", "graph", "hw", "study"]) -> dict[str, Any]:
    """Returns the JSON schema of graph YAML, or of the files of accelerators, studies or cost models."""
    found: dict[str, Any] = json.loads(_guardbit.schema(of))
    return found


@checked
def accelerator(hw: Hw, *, set: Sets | None = None) -> dict[str, Any]:
    """Returns an accelerator with every default filled in, in the form of an accelerator file."""
    with inputs() as folder:
        resolved: dict[str, Any] = json.loads(_guardbit.accelerator(folder.hw(hw), sets(set)))
        return resolved


@checked
def merge(
    shards: str | os.PathLike[str] | Result | Sequence[str | os.PathLike[str] | Result],
    *,
    partial: bool = False,
    out: Out = None,
    force: bool = False,
) -> Sweep:
    """Merges the shards of a sweep: folders, or results of `sweep`. The result is byte-equal to a sweep in one
    piece. With `partial`, missing points are allowed; `sweep` with the folder as `out` adds them.
    """
    to, temporary = target(out)
    with translated(own_target(to, temporary)):
        _guardbit.merge(folders("shards", shards), to, force, shown(False), partial)
    return Sweep(to, temporary)


@checked
def compare(
    results: str | os.PathLike[str] | Result | Sequence[str | os.PathLike[str] | Result],
    *,
    page: str | os.PathLike[str] | None = None,
    force: bool = False,
) -> Comparison:
    """Compares finished results of one kind, like `guardbit compare`: folders, or results of the functions. `page` is
    an .html file to write, with tables and plots; `force` replaces the page of an earlier comparison.
    """
    to = None if page is None else Path(path_("page", page)).absolute()
    with translated({}):
        found = json.loads(_guardbit.compare(folders("results", results), to, force))
    return Comparison(found["compared"], found["answer"])


@checked
def diff_layer(
    images: str | os.PathLike[str] | Whole,
    dut_ofm: str | os.PathLike[str],
    *,
    layer: str | int | None = None,
    dut_sums: str | os.PathLike[str] | None = None,
) -> LayerDiff:
    """Compares the output image of a design with that of a whole layer, like `guardbit diff-layer`.

    `images` is the result of `vectors` with `whole=True`, or its folder. `dut_ofm` is a file with a word per line, as
    $writememh writes it; `dut_sums` is one with the design's sums. `layer` is the folder, the name or the index of the layer,
    and may be left out if there is only one.
    """
    folder, name = folders("images", images)[0], None if layer is None else str(layer)
    with translated({}):
        return LayerDiff(json.loads(_guardbit.diff_layer(folder, dut_ofm, name, dut_sums)))
