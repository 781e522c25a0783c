"""The extension module: arguments as JSON, results in folders."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Callable, Protocol, TypedDict, final, type_check_only

import numpy as np
import numpy.typing as npt

__all__ = [
    "LevelOutputs",
    "MOST_POINTS",
    "MOST_THREADS",
    "MacUnit",
    "Network",
    "__version__",
    "accelerator",
    "compare",
    "diff_layer",
    "discriminate",
    "explore",
    "merge",
    "plain_name",
    "plot",
    "presets",
    "quantize",
    "run",
    "schema",
    "size",
    "sweep",
    "tables",
    "vectors",
]

__version__: str
MOST_THREADS: int
MOST_POINTS: int

_Path = str | PathLike[str]

@type_check_only
class _Watcher(Protocol):
    def start(self, what: str, total: int) -> None: ...
    def advance(self, samples: int) -> None: ...
    def note(self, text: str) -> None: ...

_Range = Callable[
    [
        float,
        float,
        npt.NDArray[np.float32],
        npt.NDArray[np.float64],
        npt.NDArray[np.uint64],
        int,
        tuple[int, int],
        bool,
    ],
    tuple[float, float],
]

@type_check_only
class Described(TypedDict):
    name: str
    dtype: str
    shape: list[int]
    scales: list[float] | None
    zero_points: list[int] | None
    constant: bool

@final
class LevelOutputs:
    """What a level shows after a beat: register, value with unlimited widths, whether it added, and its flags."""

    @property
    def acc(self) -> int: ...
    @property
    def exact(self) -> int: ...
    @property
    def updated(self) -> bool: ...
    @property
    def high(self) -> bool: ...
    @property
    def low(self) -> bool: ...
    @property
    def sticky(self) -> bool: ...

@final
class MacUnit:
    """MAC unit that runs beat by beat, as the hardware does."""

    def __new__(
        cls,
        hw: _Path,
        terms: int,
        activation: str = "int8",
        weight: str = "int8",
        activation_zero_point: int = 0,
        weight_zero_point: int = 0,
    ) -> MacUnit: ...
    @staticmethod
    def from_bundle(dir: _Path) -> MacUnit: ...
    def copy(self) -> MacUnit: ...
    def __copy__(self) -> MacUnit: ...
    def __deepcopy__(self, _memo: Any) -> MacUnit: ...
    def step(self, activations: Sequence[int], weights: Sequence[int]) -> None: ...
    def reset(self) -> None: ...
    def clear(self) -> None: ...
    def set_bias(self, bias: int) -> None: ...
    def set_multiplier(self, multiplier: float) -> None: ...
    def set_output(self, zero_point: int, least: int, greatest: int) -> None: ...
    @property
    def lanes(self) -> int: ...
    @property
    def terms(self) -> int: ...
    @property
    def levels(self) -> list[str]: ...
    def level(self, index: int) -> LevelOutputs: ...
    @property
    def exact(self) -> int: ...
    @property
    def sum(self) -> int | None: ...
    @property
    def code(self) -> int | None: ...

@final
class Network:
    def __new__(
        cls, path: _Path, profile: str | None = None, start: Sequence[str] = ..., end: Sequence[str] = ..., dim: Mapping[str, int] = ...
    ) -> Network: ...
    @property
    def name(self) -> str: ...
    @property
    def inputs(self) -> list[Described]: ...
    @property
    def outputs(self) -> list[Described]: ...
    @property
    def tensors(self) -> list[Described]: ...
    def nodes(self) -> list[str]: ...
    def constant(self, name: str) -> npt.NDArray[Any]: ...
    def export(self, path: _Path, force: bool = False) -> None: ...
    @property
    def has_states(self) -> bool: ...
    def layer_inputs(self, layer: str) -> list[Described]: ...
    def interpret(self, samples: list[list[list[int]]]) -> dict[str, npt.NDArray[Any]]: ...

_Observer = Callable[
    [
        int,
        str,
        int,
        npt.NDArray[Any],
        npt.NDArray[Any],
        tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]] | None,
    ],
    None,
]

def run(
    arguments: str,
    out: _Path,
    force: bool,
    watcher: _Watcher,
    threads: int | None = None,
    statistic: _Observer | None = None,
    sums: bool = False,
) -> None: ...
def sweep(
    arguments: str,
    out: _Path,
    force: bool,
    watcher: _Watcher,
    threads: int | None = None,
    statistic: _Observer | None = None,
    sums: bool = False,
) -> None: ...
def merge(folders: list[_Path], out: _Path, force: bool, watcher: _Watcher, partial: bool) -> None: ...
def size(arguments: str, out: _Path, force: bool, watcher: _Watcher, threads: int | None = None) -> None: ...
def explore(arguments: str, out: _Path, force: bool, watcher: _Watcher, threads: int | None = None) -> None: ...
def compare(folders: list[_Path], page: _Path | None, force: bool) -> str: ...
def plot(arguments: str) -> str: ...
def quantize(
    arguments: str,
    out: _Path,
    force: bool,
    watcher: _Watcher,
    threads: int | None = None,
    method: tuple[str, _Range] | None = None,
    weight_method: tuple[str, _Range] | None = None,
) -> None: ...
def vectors(arguments: str, out: _Path, force: bool, watcher: _Watcher, threads: int | None = None) -> None: ...
def diff_layer(images: _Path, dut_ofm: _Path, layer: str | None = None, dut_sums: _Path | None = None) -> str: ...
def discriminate(arguments: str, out: _Path, force: bool, watcher: _Watcher, threads: int | None = None) -> None: ...
def tables() -> str: ...
def plain_name(name: str) -> str: ...
def schema(of: str) -> str: ...
def presets() -> list[tuple[str, str]]: ...
def accelerator(hw: str, set: list[str]) -> str: ...
