"""Execute every notebook of this folder from a clean kernel, and check that they are committed without outputs.

``python notebooks/execute.py [--keep DIR]`` prints a line a notebook with its seconds. A cell that fails is shown with
its error, and the exit code is then 1. ``--keep DIR`` writes the executed copies there, to be looked at: the site
(``docs/_extensions/notebook_pages.py``) shows them.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

FOLDER = Path(__file__).resolve().parent
CELL_SECONDS = 1200

EXECUTED_FROM = "executed_from"
"""In the metadata of an executed copy: the hash of the notebook it was made from."""

_COLOUR_CODES = re.compile(r"\x1b\[[0-9;]*m")


class NotebookFailed(Exception):
    """A notebook that is not as committed notebooks must be, or a cell that did not run."""


class ThisInterpreter(AsyncKernelManager):
    """Starts kernels of the interpreter that runs this script, whatever kernels the machine has registered."""

    @property
    def kernel_spec(self) -> KernelSpec:
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", "--log-level=ERROR"]
        return KernelSpec(argv=command, display_name="this interpreter", language="python")


def main() -> int:
    parser = argparse.ArgumentParser(description="Execute the notebooks of this folder, each from a clean kernel.")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="write the executed copies to this folder")
    keep: Path | None = parser.parse_args().keep
    if keep is not None and keep.resolve() == FOLDER:
        parser.error("--keep must name another folder: committed notebooks hold no outputs")
    paths = sorted(FOLDER.glob("*.ipynb"))
    if not paths:
        parser.error(f"there is no notebook in {FOLDER.name}/")
    failed = failing(paths, keep)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def failing(paths: list[Path], keep: Path | None) -> list[str]:
    """The names of the notebooks that do not pass; as many at a time as there are cores."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        passed = list(pool.map(partial(passes, keep=keep), paths))
    return [path.name for path, well in zip(paths, passed, strict=True) if not well]


def passes(path: Path, keep: Path | None) -> bool:
    """Whether the notebook is committed clean and runs from top to bottom; says so in one line."""
    started = time.perf_counter()
    try:
        notebook = read(path)
        require_no_outputs(notebook)
        try:
            execute(notebook)
            notebook.metadata[EXECUTED_FROM] = digest(path)
        finally:
            if keep is not None:
                keep.mkdir(parents=True, exist_ok=True)
                nbformat.write(notebook, keep / path.name)
    except NotebookFailed as failure:
        print(f"{path.name}: FAILED after {time.perf_counter() - started:.1f} s: {failure}", flush=True)
        return False
    print(f"{path.name}: {time.perf_counter() - started:.1f} s", flush=True)
    return True


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def is_current(path: Path, executed: Path) -> bool:
    """Whether this copy was executed from the notebook as it is now."""
    return executed.exists() and read(executed).metadata.get(EXECUTED_FROM) == digest(path)


def read(path: Path) -> nbformat.NotebookNode:
    try:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
    except (ValueError, nbformat.ValidationError) as error:
        raise NotebookFailed(f"not a valid notebook: {error}") from None
    return notebook


def require_no_outputs(notebook: nbformat.NotebookNode) -> None:
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "code" and (cell.outputs or cell.execution_count is not None):
            raise NotebookFailed(f"cell {index} holds outputs or an execution count; clear them all and save")


def execute(notebook: nbformat.NotebookNode) -> None:
    """Run all cells in order, in this folder; every failure names its cell."""
    running = [0]
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_manager_class=ThisInterpreter,
        resources={"metadata": {"path": str(FOLDER)}},
        on_cell_start=lambda cell, cell_index: running.append(cell_index),
    )
    try:
        # figures go into the notebook even where the caller asked for another backend
        client.execute(env=os.environ | {"MPLBACKEND": "module://matplotlib_inline.backend_inline"})
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        raise NotebookFailed(f"cell {running[-1]}\n{_COLOUR_CODES.sub('', str(error))}") from None


if __name__ == "__main__":
    sys.exit(main())
