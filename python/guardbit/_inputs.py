"""Arguments as the extension takes them: arrays become files in a folder of their own, read by the readers that all files have."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ._graph import Graph

#: A network: a file, or a graph.
Model = str | os.PathLike[str] | Graph
#: An accelerator: a preset's name, a file, or the content of one.
Hw = str | os.PathLike[str] | Mapping[str, Any]
#: Samples: a .npy or .npz file, an array with the samples along its first axis, or an array per input.
Samples = str | os.PathLike[str] | npt.ArrayLike | Mapping[str, npt.ArrayLike]
#: Overrides of the accelerator: by key, or as KEY=VALUE.
Sets = Mapping[str, Any] | Sequence[str]


class Folder:
    """Files that stand for arrays, as long as the call lasts."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)

    def model(self, model: Model) -> str:
        """The path of a network."""
        return os.fspath(model.path) if isinstance(model, Graph) else os.path.abspath(model)

    def hw(self, hw: Hw) -> str:
        """The name or path of an accelerator."""
        if isinstance(hw, Mapping):
            # A file of the same content in the same folder: where two are given, they have their own.
            folder = self.path / f"hw{len(list(self.path.glob('hw*')))}"
            folder.mkdir()
            file = folder / f"{hw.get('name', 'hw')}.yaml"
            file.write_text(json.dumps({"schema": 1, "name": "hw", **hw}))
            return str(file)
        return os.fspath(hw)

    def samples(self, name: str, samples: Samples | None) -> str | None:
        """The path of samples or labels; arrays are written to `name`.npy or .npz."""
        if samples is None:
            return None
        if isinstance(samples, (str, os.PathLike)):
            return os.path.abspath(samples)
        if isinstance(samples, Mapping):
            file = self.path / f"{name}.npz"
            arrays: Any = {key: np.ascontiguousarray(array) for key, array in samples.items()}
            np.savez(file, **arrays)
        else:
            file = self.path / f"{name}.npy"
            np.save(file, np.ascontiguousarray(samples))
        return str(file)


def sets(given: Sets | None) -> list[str]:
    """Overrides as KEY=VALUE."""
    if given is None:
        return []
    if isinstance(given, Mapping):
        return [f"{key}={value(setting)}" for key, setting in given.items()]
    if isinstance(given, str):
        raise TypeError("set takes a mapping of keys to values, or a list of 'KEY=VALUE'")
    return list(given)


def value(setting: Any) -> str:
    """A value as it stands in a line of YAML."""
    if isinstance(setting, str):
        return setting
    if isinstance(setting, np.generic):
        setting = setting.item()
    return json.dumps(setting)
