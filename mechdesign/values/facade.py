"""Packages whose names are imported when they are asked for, and said once.

A package says its names under ``if TYPE_CHECKING``, as type checkers read them. At run time `facade` reads the same
lines: nothing is loaded for a name that nobody asks for, so that reading a proof loads no search and no solver.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False  # for type checkers, who know the name: this is read before Ctrl-C has a handler
if TYPE_CHECKING:
    from collections.abc import Callable


def facade(
    package: str, *functions: str, packages: tuple[str, ...] = ()
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package, ``__all__`` among what is asked for.

    ``functions`` are named like the modules that they are in: the names stay theirs when the modules are read.
    ``packages`` are named like a function in them, and are that function, too: the name is the package's.

    >>> from mechdesign import exact
    >>> exact.prove_privacy.__module__, "prove_privacy" in dir(exact), exact.__all__[:2]
    ('mechdesign.exact.privacy', True, ['PrivacyProof', 'exp_lower'])
    """
    homes: dict[str, tuple[str, str]] = {}
    if functions:
        sys.modules[package].__class__ = _keeping(functions)

    def find(name: str) -> object:
        if not homes:
            homes.update(_homes(package))
        if name == "__all__":
            return sorted(homes)
        module, own = homes.get(name, (package, name))
        if name in packages:
            module, own = package, name
        is_module = module == package or not hasattr(import_module(module), own)
        value = _module(module, own) if is_module else getattr(import_module(module), own)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        find("__all__")
        return sorted([*homes, *({"__version__"} & set(vars(sys.modules[package])))])

    return find, names


def _keeping(functions: tuple[str, ...]) -> type[ModuleType]:
    """A package in which no module takes these names when it is read."""

    class Package(ModuleType):
        __module__ = ModuleType.__module__

        def __setattr__(self, name: str, value: object) -> None:
            if name not in functions or not isinstance(value, ModuleType):
                super().__setattr__(name, value)

    return Package


def _homes(package: str) -> dict[str, tuple[str, str]]:
    """The module and the name there of each name that the package's own source imports."""
    import ast

    spec = sys.modules[package].__spec__
    source = getattr(spec and spec.loader, "get_source", lambda _: None)(package)
    imports = [node for node in ast.walk(ast.parse(source or "")) if isinstance(node, ast.ImportFrom)]
    return {
        name.asname: (node.module, name.name)
        for node in imports
        for name in node.names
        if node.module is not None and name.asname is not None
    }


def _module(package: str, name: str) -> object:
    """A module of the package: all of them are found, as those that were imported are."""
    whole = f"{package}.{name}"
    try:
        if not name.startswith("_"):
            return import_module(whole)
    except ModuleNotFoundError as missing:
        if missing.name != whole:
            raise
    raise AttributeError(f"module {package!r} has no attribute {name!r}")
