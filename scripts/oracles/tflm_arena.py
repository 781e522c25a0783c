"""Prints the bytes of TensorFlow Lite Micro's arena used by activations and scratch buffers (its "head"): tflm_arena.py
MODEL."""

import re
import subprocess
import sys

PRINT = """
import sys
from tflite_micro import runtime

runtime.Interpreter.from_file(sys.argv[1], arena_size=1 << 24).print_allocations()
"""

# The allocator prints directly, bypassing Python's streams.
printed = subprocess.run([sys.executable, "-c", PRINT, sys.argv[1]], capture_output=True, text=True, check=True)
print(re.search(r"Arena allocation head (\d+) bytes", printed.stdout + printed.stderr).group(1))
