"""Every option of a command is an argument of its function, and the other way round."""

from __future__ import annotations

import inspect
import os
import re
import subprocess

import pytest

import guardbit

# Options that have other names in Python.
NAMES = {"input": "x", "labels": "y", "test": "x", "dump_tensors": "tensors", "dump_sums": "sums", "output_dir": "out", "axis": "axes"}
QUANTIZE = {"output": "out", "output_name": "output", "layer": "layers"}
# What only a command line has: texts on a terminal, and options that say the default.
COMMAND_LINE = {"json", "quiet", "help", "version", "per_channel", "asymmetric"}
# Options that make no difference to what a command writes.
UNUSED = {"size": {"stats"}, "vectors": {"y", "task", "output", "stats"}, "merge": {"threads"}}
# What the command line has as positional arguments, or not at all.
PYTHON = {"model", "hw", "shards", "progress", "statistic"}


def options(command: str) -> set[str]:
    """Those of its help text."""
    text = subprocess.run([os.environ["GUARDBIT_BINARY"], command, "--help"], capture_output=True, text=True, check=True).stdout
    found = {name.replace("-", "_") for name in re.findall(r"^ +(?:-\w, )?--([a-z][a-z-]+)", text, re.MULTILINE)}
    assert len(found) > 3, text
    return found


@pytest.mark.parametrize("command", ["run", "sweep", "size", "explore", "vectors", "quantize", "merge"])
def test_options(command: str) -> None:
    names = NAMES | (QUANTIZE if command == "quantize" else {})
    theirs = {names.get(name, name) for name in options(command)} - COMMAND_LINE - PYTHON
    ours = set(inspect.signature(getattr(guardbit, command)).parameters) - PYTHON
    assert theirs - ours == UNUSED.get(command, set())
    assert ours - theirs == set()
