"""Every option of a command is an argument of its function, and vice versa."""

from __future__ import annotations

import inspect
import os
import re
import subprocess

import pytest

import guardbit

# Options that have other names in Python.
NAMES = {"input": "x", "labels": "y", "test": "x", "dump_tensors": "tensors", "dump_sums": "sums", "output_dir": "out", "axis": "axes", "from": "from_"}
QUANTIZE = {"output": "out", "output_name": "output", "layer": "layers"}
# Options without use in Python: terminal output, browsers, exit codes, and options that state the default.
COMMAND_LINE = {"json", "quiet", "strict", "help", "version", "all", "open", "per_channel", "asymmetric"}
# Options that do not change the command's output, and those of images of whole layers, which are no bundle.
UNUSED = {"merge": {"threads"}, "discriminate": {"observed"}}
# Arguments that are positional on the command line, or do not exist there.
PYTHON = {"model", "hw", "shards", "progress", "statistic", "plots"}


def options(command: str) -> dict[str, str | None]:
    """Returns the options in the command's help text, with their defaults."""
    text = subprocess.run([os.environ["GUARDBIT_BINARY"], command, "--help"], capture_output=True, text=True, check=True).stdout
    _, *parts = re.split(r"^ +(?:-\w, )?--([a-z][a-z-]+)(?=\s)", text, flags=re.MULTILINE)
    found = {}
    for name, meaning in zip(parts[::2], parts[1::2]):
        default = re.search(r"\[default:\s+([^]]+)\]", meaning)
        found[name.replace("-", "_")] = default and default[1]
    assert len(found) > 3, text
    return found


@pytest.mark.parametrize("command", ["run", "sweep", "size", "explore", "vectors", "discriminate", "quantize", "merge"])
def test_options(command: str) -> None:
    names = NAMES | (QUANTIZE if command == "quantize" else {})
    theirs = {names.get(name, name) for name in options(command)} - COMMAND_LINE - PYTHON
    ours = set(inspect.signature(getattr(guardbit, command)).parameters) - PYTHON
    # Only `quantize` has a separate folder as an option.
    ours -= set() if command == "quantize" else {"report"}
    assert theirs - ours == UNUSED.get(command, set())
    assert ours - theirs == set()


@pytest.mark.parametrize(("command", "count"), [("run", 3), ("sweep", 2), ("size", 3), ("vectors", 2), ("quantize", 5)])
def test_defaults(command: str, count: int) -> None:
    """The defaults of a function equal those of the command line."""
    names = NAMES | (QUANTIZE if command == "quantize" else {})
    theirs = {names.get(name, name): default for name, default in options(command).items()}
    parameters = inspect.signature(getattr(guardbit, command)).parameters.values()
    ours = {one.name: one.default for one in parameters if one.default not in (one.empty, None, True, False, ())}
    assert len(ours) == count
    for name, default in ours.items():
        assert theirs[name] == (",".join(default) if isinstance(default, tuple) else str(default)), name
