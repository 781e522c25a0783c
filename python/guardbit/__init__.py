"""Simulation of quantized networks on narrow accumulators, with every overflow computed bit by bit.

Functions take paths or numpy arrays. They return a result: a folder as the `guardbit` command writes it, whose tables
and arrays are read on demand.
"""

from ._api import accelerator, compare, diff_layer, load, merge, presets, schema
from ._calibration import Observed
from ._commands import discriminate, explore, quantize, run, size, sweep, vectors
from ._errors import GuardbitError, GuardbitWarning, Place
from ._graph import Graph
from ._guardbit import LevelOutputs, MacUnit, __version__
from ._results import Bundle, Comparison, Discrimination, Exploration, LayerDiff, Quantized, Result, Run, Size, Sweep, Whole
from ._statistics import Sums
from ._tables import columns, describe, set_tables

__all__ = [
    "Bundle",
    "Comparison",
    "Discrimination",
    "Exploration",
    "Graph",
    "GuardbitError",
    "GuardbitWarning",
    "LayerDiff",
    "LevelOutputs",
    "MacUnit",
    "Observed",
    "Place",
    "Quantized",
    "Result",
    "Run",
    "Size",
    "Sums",
    "Sweep",
    "Whole",
    "__version__",
    "accelerator",
    "columns",
    "compare",
    "describe",
    "diff_layer",
    "discriminate",
    "explore",
    "load",
    "merge",
    "presets",
    "quantize",
    "run",
    "schema",
    "set_tables",
    "size",
    "sweep",
    "vectors",
]
