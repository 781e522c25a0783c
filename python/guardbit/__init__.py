"""What does a narrow accumulator do to a quantized network? Simulation of overflow, bit by bit.

Every function takes paths or numpy arrays, and gives a result: a folder as the `guardbit` command writes it, of which tables and
arrays are read when they are asked for.
"""

from ._api import accelerator, compare, load, merge, presets, schema
from ._calibration import Observed
from ._commands import explore, quantize, run, size, sweep, vectors
from ._errors import GuardbitError, GuardbitWarning, Place
from ._graph import Graph
from ._guardbit import __version__
from ._results import Bundle, Comparison, Exploration, Quantized, Result, Run, Size, Sweep
from ._statistics import Sums
from ._tables import columns, describe, set_tables

__all__ = [
    "Bundle",
    "Comparison",
    "Exploration",
    "Graph",
    "GuardbitError",
    "GuardbitWarning",
    "Observed",
    "Place",
    "Quantized",
    "Result",
    "Run",
    "Size",
    "Sums",
    "Sweep",
    "__version__",
    "accelerator",
    "columns",
    "compare",
    "describe",
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
