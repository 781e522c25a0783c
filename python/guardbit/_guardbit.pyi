"""The extension module: arguments as JSON, results in folders."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Callable, Protocol, TypedDict, final, type_check_only

import numpy as np
import numpy.typing as npt

__all__ = ["Network", "__version__", "accelerator", "compare", "explore", "merge", "presets", "quantize", "run", "size", "sweep", "vectors"]

__version__: str

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
    def interpret(self, inputs: list[list[int]]) -> dict[str, npt.NDArray[Any]]: ...

def run(
    arguments: str,
    out: _Path,
    force: bool,
    watcher: _Watcher,
    threads: int | None = None,
    statistic: Callable[[str, int, npt.NDArray[Any], npt.NDArray[Any]], None] | None = None,
) -> None: ...
def sweep(arguments: str, out: _Path, force: bool, watcher: _Watcher, threads: int | None = None) -> None: ...
def merge(folders: list[_Path], out: _Path, force: bool, watcher: _Watcher) -> None: ...
def size(arguments: str, out: _Path, force: bool, watcher: _Watcher, threads: int | None = None) -> None: ...
def explore(arguments: str, out: _Path, force: bool, watcher: _Watcher, threads: int | None = None) -> None: ...
def compare(folders: list[_Path]) -> str: ...
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
def presets() -> list[tuple[str, str]]: ...
def accelerator(hw: str, set: list[str]) -> str: ...
