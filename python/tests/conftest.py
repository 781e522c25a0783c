"""Fixtures for the Python package and the command line: GUARDBIT_BINARY names the binary built from these sources."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "digits"


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., Path]:
    """Returns a function that runs the command line and returns the folder that it wrote."""

    def run(*arguments: object, out: str = "cli") -> Path:
        folder = tmp_path / out
        call = [os.environ["GUARDBIT_BINARY"], *map(str, arguments), "-o", str(folder)]
        done = subprocess.run(call, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return folder

    return run


@pytest.fixture
def images() -> np.ndarray:
    return np.load(DIGITS / "test_images.npy")


@pytest.fixture
def labels() -> np.ndarray:
    return np.load(DIGITS / "test_labels.npy")


def contents(folder: Path) -> dict[str, bytes]:
    """Returns every file with its bytes."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def assert_same(ours: Path, theirs: Path) -> None:
    ours_files, theirs_files = contents(ours), contents(theirs)
    assert sorted(ours_files) == sorted(theirs_files)
    for name, content in theirs_files.items():
        assert ours_files[name] == content, name
