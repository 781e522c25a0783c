"""Networks from files and from numpy arrays."""

from __future__ import annotations

import io
import json
import math
import os
import re
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _guardbit
from ._arguments import listed, refused, text
from ._errors import GuardbitError, translated

if TYPE_CHECKING:
    from ._guardbit import Described


#: The network as a whole.
_WHOLE: dict[str, Any] = {"from": [], "to": [], "dim": {}}


class Graph:
    """A quantized network. It can be pickled and copied.

    `Graph(inputs=..., constants=..., nodes=..., outputs=...)` builds a network from the parts of a graph YAML file,
    with the same names (described in docs/reference/graph.md and by `guardbit graph schema`). The codes of a constant are a numpy
    array under `data`, which defines the shape, and the dtype unless one is given (`int4` codes are int8 arrays):

        Graph(
            inputs=[dict(name="x", shape=[1, 16], dtype="int8", scale=0.1)],
            constants=[dict(name="w", data=weights, scale=0.02)],
            nodes=[dict(op="fully_connected", inputs=["x", "w"], output=dict(name="y", dtype="int8", scale=0.3))],
            outputs=["y"],
        )

    `Graph(data)` reads the bytes of a file: TFLite, ONNX or graph YAML. Every problem raises a GuardbitError.
    `guardbit.load` reads files, and has further arguments.
    """

    #: Name given by the user, if files have another name.
    _name: str | None = None

    def __init__(
        self,
        data: bytes | None = None,
        *,
        inputs: Sequence[Mapping[str, Any]] | None = None,
        nodes: Sequence[Mapping[str, Any]] | None = None,
        outputs: Sequence[str] | None = None,
        constants: Sequence[Mapping[str, Any]] = (),
        name: str = "graph",
    ) -> None:
        if data is not None:
            if inputs is not None or nodes is not None or outputs is not None or constants:
                raise GuardbitError("data: the bytes of a file exclude inputs, nodes, outputs and constants")
            self._restore({f"network{suffix_of(data)}": bytes(data)}, None, _WHOLE)
            return
        # Data that a file cannot contain is kept here.
        told = text("name", name).encode("utf-8", "replace").decode()
        parts: dict[str, Any] = {"schema": 1, "name": _guardbit.plain_name(told)}
        files: dict[str, bytes] = {}
        stored = []
        for index, constant in enumerate(_each("constants", constants)):
            described = dict(constant)
            if "data" in described:
                array = np.ascontiguousarray(described.pop("data"))
                files[f"{index}.npy"] = _npy(f"constants[{index}]", array)
                described = {"shape": list(array.shape), "dtype": array.dtype.name, "file": f"{index}.npy", **described}
            stored.append(described)
        parts["inputs"] = [dict(one) for one in _each("inputs", inputs)]
        parts["constants"] = stored
        parts["nodes"] = [dict(node) for node in _each("nodes", nodes)]
        if outputs is None:
            raise GuardbitError("outputs: a graph needs the names of its outputs")
        parts["outputs"] = [outputs] if isinstance(outputs, str) else list(outputs)
        try:
            content = json.dumps(parts, default=plain, indent=1)
        except (TypeError, ValueError, RecursionError) as error:
            raise GuardbitError(f"graph: cannot write a part as YAML: {error}") from None
        # The first file is the network.
        self._restore({f"{file_name(name)}.yaml": content.encode(), **files}, None, _WHOLE, name)

    def _restore(
        self, files: Mapping[str, bytes], profile: str | None, cut: Mapping[str, Any], name: str | None = None
    ) -> None:
        """Restores the graph from the content of files, the first of which is the network."""
        folder = tempfile.TemporaryDirectory(prefix="guardbit-")
        # The folder is removed together with the graph.
        weakref.finalize(self, folder.cleanup)
        for file, content in files.items():
            (Path(folder.name) / file).write_bytes(content)
        path = Path(folder.name) / next(iter(files))
        with translated({str(path): "graph", folder.name + os.sep: ""}):
            self._read(path, profile, cut["from"], cut["to"], cut["dim"])
        self.is_own = True
        self._files = dict(files)
        self._name = name

    def _read(
        self,
        path: Path,
        profile: str | None,
        start: Sequence[str] = (),
        end: Sequence[str] = (),
        dim: Mapping[str, int] | None = None,
    ) -> None:
        self.path = path
        #: Whether the graph owns its files, which are then removed with it.
        self.is_own = False
        self._name = None
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
        with translated({}):
            graph._read(path, profile, start, end, dim)
        return graph

    @classmethod
    def _of_files(
        cls, files: Mapping[str, bytes], profile: str | None, cut: Mapping[str, Any], name: str | None = None
    ) -> Graph:
        graph = cls.__new__(cls)
        graph._restore(files, profile, cut, name)
        return graph

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the content of its files. A network that refers to other files must be unpickled where these exist."""
        if self.is_own:
            return (Graph._of_files, (self._files, self.profile, self.cut, self._name))
        try:
            files = {self.path.name: self.path.read_bytes()}
        except OSError as error:
            raise GuardbitError(f"{self.path}: the file of the network cannot be read any more: {error.strerror}", "guardbit::model::io") from None
        try:
            Graph._of_files(files, self.profile, self.cut)
        except GuardbitError:
            cut = self.cut
            return (Graph._load, (self.path, self.profile, cut["from"], cut["to"], cut["dim"]))
        return (Graph._of_files, (files, self.profile, self.cut))

    # Graphs are immutable.
    def __copy__(self) -> Graph:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        return self

    @staticmethod
    def schema() -> dict[str, Any]:
        """Returns the JSON schema of graph YAML, which describes `inputs`, `constants`, `nodes` and `outputs`."""
        schema: dict[str, Any] = json.loads(_guardbit.schema("graph"))
        return schema

    @property
    def name(self) -> str:
        """The name of the network."""
        return self._network.name if self._name is None else self._name

    @property
    def inputs(self) -> list[Described]:
        """The inputs: name, dtype, shape, scales and zero points of each tensor."""
        return self._network.inputs

    @property
    def outputs(self) -> list[Described]:
        """The outputs, described like `inputs`."""
        return self._network.outputs

    @property
    def tensors(self) -> list[Described]:
        """All tensors, described like `inputs`."""
        return self._network.tensors

    def nodes(self) -> list[dict[str, Any]]:
        """Returns every operation with everything that determines its codes, like `operations` of `guardbit inspect --json`."""
        return [json.loads(node) for node in self._network.nodes()]

    def constant(self, name: str) -> npt.NDArray[Any]:
        """Returns the codes of a constant: weights or biases."""
        return self._network.constant(name)

    def export(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Writes the network as a QDQ file that ONNX Runtime runs with equal results, and returns the path, which ends
        in `.onnx`.

        An existing file is refused; with `force`, one that guardbit wrote is replaced. Operations that ONNX Runtime
        rounds differently, such as those of TFLite, raise a GuardbitError that names the first one (docs/reference/onnx.md).
        """
        path = Path(path)
        with translated({}):
            self._network.export(path, force)
        return path

    @property
    def has_states(self) -> bool:
        """Whether samples are steps of one stream."""
        return self._network.has_states

    def interpret(self, x: npt.ArrayLike | Mapping[str, npt.ArrayLike]) -> dict[str, npt.NDArray[Any]]:
        """Returns every tensor that samples produce without overflows. `x` holds codes of the input, or of each input
        by name.

        For one sample, tensors have their own shapes. Several samples lie along the first axis, and so do their
        tensors. For a network with states, samples are the steps of one stream from its beginning, and a single step
        has that axis too. Constants are returned unchanged. This is the definition and not fast; use `run` for speed.
        """
        if isinstance(x, Mapping):
            given = {str(name): array for name, array in x.items()}
        elif len(self.inputs) == 1:
            given = {self.inputs[0]["name"]: x}
        else:
            raise GuardbitError(f"x: the network has several inputs: give a mapping with {', '.join(self._names())}")
        if set(given) != set(self._names()):
            raise GuardbitError(f"x: expected arrays for {', '.join(self._names())}, found {', '.join(given) or 'none'}")
        codes = {tensor["name"]: _codes(tensor, given[tensor["name"]]) for tensor in self.inputs}
        counts = {len(array) for array in codes.values()}
        if len(counts) != 1:
            raise GuardbitError("x: the inputs have different numbers of samples")
        samples = [[codes[name][index].tolist() for name in self._names()] for index in range(counts.pop())]
        with translated({}):
            return self._network.interpret(samples)

    def _names(self) -> list[str]:
        return [tensor["name"] for tensor in self.inputs]

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


def _codes(tensor: Described, given: npt.ArrayLike) -> npt.NDArray[np.int32]:
    """Returns the codes of an input, one row per sample; for an input in float, the bits of its values."""
    shape = tensor["shape"]
    try:
        array = np.asarray(given)
    except (ValueError, OverflowError, TypeError) as error:
        raise GuardbitError(f"x: cannot convert to an array: {error}") from None
    if tensor["dtype"] == "float32" and array.dtype.kind in "iuf":
        array = array.astype(np.float32).view(np.int32)
    if array.dtype.kind not in "iu":
        raise GuardbitError(f"x: expected codes, which are integers, found dtype {array.dtype}", "guardbit::input::dtype")
    if array.size and not (-(2**31) <= int(array.min()) and int(array.max()) < 2**31):
        raise GuardbitError("x: a code is outside int32", "guardbit::input::range")
    size = math.prod(shape)
    if array.size == 0 or size == 0 or array.size % size:
        raise GuardbitError(f"x: input `{tensor['name']}` takes {size} codes per sample, found shape {list(array.shape)}", "guardbit::input::shape")
    return array.astype(np.int32).reshape(-1, size)


def _each(name: str, parts: Any) -> list[Mapping[str, Any]]:
    """Returns the parts of a graph, given as one or several."""
    found = [parts] if isinstance(parts, Mapping) else listed(name, () if parts is None else parts)
    for part in found:
        if not isinstance(part, Mapping):
            raise refused(name, "mappings", part)
    return found


def _npy(argument: str, array: npt.NDArray[Any]) -> bytes:
    if array.dtype.kind not in "biuf":
        raise GuardbitError(f"{argument}: data: expected numbers, found dtype {array.dtype}")
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def suffix_of(data: bytes) -> str:
    """Returns the file suffix for this content: flatbuffers contain the name of their format, protobufs begin with a field."""
    if data[4:8] == b"TFL3":
        return ".tflite"
    # Field 1 of a model, its version, is a varint; no text begins with that byte.
    return ".onnx" if data[:1] and data[0] < 0x20 and data[0] not in b"\t\n\r" else ".yaml"


def file_name(name: str) -> str:
    """Returns a name that is a valid file name on any system."""
    return re.sub(r"[^A-Za-z0-9._ +-]", "_", name)[:80].strip(". ") or "_"


def plain(value: Any) -> Any:
    """Returns a numpy value as a plain Python value."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"an object of type {type(value).__name__}")
