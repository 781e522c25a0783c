"""Runs every cell of a notebook and writes the notebook with its outputs to a second path.

    python scripts/run_notebook.py NOTEBOOK OUT
"""

import sys
from pathlib import Path

import nbclient
import nbformat


def main() -> None:
    source, out = map(Path, sys.argv[1:])
    notebook = nbformat.read(source, as_version=4)
    nbclient.NotebookClient(notebook, timeout=1200, resources={"metadata": {"path": source.parent}}).execute()
    nbformat.write(notebook, out)
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    pictures = sum("image/png" in output.get("data", {}) for output in shown)
    if pictures == 0:
        sys.exit(f"{source}: no picture came out")
    print(f"{source}: {len(notebook.cells)} cells, {pictures} pictures")


if __name__ == "__main__":
    main()
