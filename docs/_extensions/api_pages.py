"""A page for every public module: its docstring, and every name of its ``__all__`` with signature and docstring."""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer

MODULES = {
    "mechdesign": "Problems, designs, certificates",
    "mechdesign.mechanisms": "Mechanisms",
    "mechdesign.mechanisms.catalogue": "The catalogue of published mechanisms",
    "mechdesign.words.priors": "Priors",
    "mechdesign.methods": "Designing, in full",
    "mechdesign.tables": "Tables, samplers, reports",
    "mechdesign.tables.reports": "Reports on their way",
    "mechdesign.studies.frequencies": "Collections: protocols and estimates",
    "mechdesign.studies.frequencies.postprocess": "Post-processing",
    "mechdesign.studies.frequencies.metrics": "Metrics",
    "mechdesign.studies.budgets": "Budgets",
    "mechdesign.studies.places": "Paths of locations",
    "mechdesign.studies.classifiers": "Classifiers",
    "mechdesign.plot": "Pictures",
    "mechdesign.errors": "Errors",
}
"""The public modules, in the order of the page, each with its title."""


def public_names(module_name: str) -> list[str]:
    """The names that ``__all__`` lists, or those without underscore that the module makes itself."""
    module = import_module(module_name)
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return sorted(listed)
    own = (name for name, value in vars(module).items() if getattr(value, "__module__", None) == module_name)
    return sorted(name for name in own if not name.startswith("_"))


def page(module_name: str, title: str) -> str:
    """The reStructuredText of a module's page."""
    parts = [
        title,
        "=" * len(title),
        "",
        f"``import {module_name}``",
        "",
        f".. automodule:: {module_name}",
        "   :no-members:",
        "",
    ]
    module = import_module(module_name)
    values = {name: getattr(module, name) for name in public_names(module_name)}
    for name, value in values.items():
        if not inspect.ismodule(value):
            parts += _entry(module_name, name, value)
    submodules = [value.__name__ for value in values.values() if inspect.ismodule(value)]
    if submodules:
        parts += ["Modules: " + ", ".join(f"``{name}``" for name in submodules) + ".", ""]
    return "\n".join(parts)


def _entry(module_name: str, name: str, value: object) -> list[str]:
    first = next(m for m in MODULES if name in public_names(m) and getattr(import_module(m), name) is value)
    if first != module_name:  # described once, on the first page that has it
        return [f"``{name}``: see :py:obj:`{first}.{name}`.", ""]
    full_name = f"{module_name}.{name}"
    if inspect.isclass(value):
        return [f".. autoclass:: {full_name}", ""]
    if inspect.isroutine(value):
        return [f".. autofunction:: {full_name}", ""]
    return [f".. py:data:: {full_name}", "", *(f"   {line}" for line in _documented(name, value)), ""]


def _documented(name: str, value: object) -> list[str]:
    """What stands below a constant in the module that makes it: a constant has no docstring of its own."""
    for home, module in list(sys.modules.items()):
        if home.partition(".")[0] == "mechdesign" and vars(module).get(name) is value:
            lines = ModuleAnalyzer.for_module(home).find_attr_docs().get(("", name))
            if lines:
                return lines
    keys = ", ".join(f"``{key}``" for key in value) if isinstance(value, dict) else ""
    return [f"By name: {keys}." if keys else f"A {type(value).__name__}."]


def write_pages(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "api" / "modules"
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {f"{name}.rst": page(name, title) for name, title in MODULES.items()}
    wanted["index.txt"] = "\n".join(["```{toctree}", *(f"modules/{name}" for name in MODULES), "```", ""])
    for stale in set(folder.glob("*.rst")) - {folder / name for name in wanted}:
        stale.unlink()
    for name, text in wanted.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
