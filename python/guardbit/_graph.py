"""Networks: from files, and from numpy arrays."""

from __future__ import annotations

import json
import os
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _guardbit
if TYPE_CHECKING:
    from ._guardbit import Described


class Graph:
    """A quantized network.

    `Graph(inputs=..., constants=..., nodes=..., outputs=...)` makes one of the parts that a graph YAML file has, by the same names
    (docs/graph.md and `guardbit graph schema` describe them); a constant's codes are a numpy array under `data`, which gives the
    shape, and the dtype unless one is given (`int4` codes are int8 arrays):

        Graph(
            inputs=[dict(name="x", shape=[1, 16], dtype="int8", scale=0.1)],
            constants=[dict(name="w", data=weights, scale=0.02)],
            nodes=[dict(op="fully_connected", inputs=["x", "w"], output=dict(name="y", dtype="int8", scale=0.3))],
            outputs=["y"],
        )

    Whatever is wrong with it is a GuardbitError. `guardbit.load` reads files.
    """

    def __init__(
        self,
        *,
        inputs: Sequence[Mapping[str, Any]],
        nodes: Sequence[Mapping[str, Any]],
        outputs: Sequence[str],
        constants: Sequence[Mapping[str, Any]] = (),
        name: str = "graph",
    ) -> None:
        folder = tempfile.TemporaryDirectory(prefix="guardbit-")
        # It goes when the graph does.
        weakref.finalize(self, folder.cleanup)
        stored = []
        for index, constant in enumerate(constants):
            described = dict(constant)
            if "data" in described:
                array = np.ascontiguousarray(described.pop("data"))
                np.save(Path(folder.name) / f"{index}.npy", array)
                described = {"shape": list(array.shape), "dtype": array.dtype.name, "file": f"{index}.npy", **described}
            stored.append(described)
        parts = {
            "schema": 1,
            "name": name,
            "inputs": [dict(one) for one in inputs],
            "constants": stored,
            "nodes": [dict(node) for node in nodes],
            "outputs": list(outputs),
        }
        path = Path(folder.name) / f"{name}.yaml"
        path.write_text(json.dumps(parts, default=_plain, indent=1))
        self._read(path, None)

    def _read(
        self,
        path: Path,
        profile: str | None,
        start: Sequence[str] = (),
        end: Sequence[str] = (),
        dim: Mapping[str, int] | None = None,
    ) -> None:
        self.path = path
        self.profile = profile
        self.cut = {"from": list(start), "to": list(end), "dim": dict(dim or {})}
        self._network = _guardbit.Network(path, profile, list(start), list(end), dict(dim or {}))

    @classmethod
    def _load(
        cls,
        path: Path,
        profile: str | None,
        start: Sequence[str] = (),
        end: Sequence[str] = (),
        dim: Mapping[str, int] | None = None,
    ) -> Graph:
        graph = cls.__new__(cls)
        graph._read(path, profile, start, end, dim)
        return graph

    @property
    def name(self) -> str:
        """Its name."""
        return self._network.name

    @property
    def inputs(self) -> list[Described]:
        """What it reads: name, dtype, shape, scales and zero points of each tensor."""
        return self._network.inputs

    @property
    def outputs(self) -> list[Described]:
        """What it makes."""
        return self._network.outputs

    @property
    def tensors(self) -> list[Described]:
        """All of its tensors."""
        return self._network.tensors

    def nodes(self) -> list[dict[str, Any]]:
        """Every operation with all that its codes follow from, as `guardbit inspect --json` has it."""
        return [json.loads(node) for node in self._network.nodes()]

    def constant(self, name: str) -> npt.NDArray[Any]:
        """The codes of a constant: weights or biases."""
        return self._network.constant(name)

    def export(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Writes it as a QDQ file that ONNX Runtime runs with equal results, and gives the path, which ends in `.onnx`.

        An existing file is refused; with `force` one that guardbit wrote is replaced. Operations that ONNX Runtime rounds otherwise, as
        those of TFLite, are a GuardbitError that names the first one (docs/onnx.md).
        """
        path = Path(path)
        self._network.export(path, force)
        return path

    def interpret(self, x: npt.ArrayLike | Mapping[str, npt.ArrayLike]) -> dict[str, npt.NDArray[Any]]:
        """Every tensor that one sample makes where nothing overflows: codes of the input, or of each input by name, in.

        This is the definition, not a fast path: `run` is.
        """
        given = x if isinstance(x, Mapping) else {self.inputs[0]["name"]: x}
        codes = []
        for tensor in self.inputs:
            array = np.asarray(given[tensor["name"]])
            if array.dtype.kind not in "iu":
                raise TypeError(f"interpret takes codes, which are integers, not {array.dtype}")
            codes.append(array.reshape(-1).tolist())
        return self._network.interpret(codes)

    def __repr__(self) -> str:
        def shown(tensors: list[Described]) -> str:
            return ", ".join(f"{one['name']}: {one['dtype']}{one['shape']}" for one in tensors)

        return f"<Graph {self.name}: {shown(self.inputs)} -> {shown(self.outputs)}, {len(self._network.nodes())} nodes>"

    def _repr_html_(self) -> str:
        rows = ""
        for index, node in enumerate(self.nodes()):
            output = node["output"]
            cells = [index, output.get("name", ""), _op(node["attributes"]), output.get("dtype", ""), output.get("shape", "")]
            rows += "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in cells) + "</tr>"
        head = "".join(f"<th>{name}</th>" for name in ("", "output", "op", "dtype", "shape"))
        return f"<b>{escape(self.name)}</b><table><tr>{head}</tr>{rows}</table>"


def _op(attributes: Any) -> str:
    return next(iter(attributes)) if isinstance(attributes, dict) else str(attributes)


def _plain(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is no part of a graph")
