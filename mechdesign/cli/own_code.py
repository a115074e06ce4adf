"""Code of one's own, named on the command line as ``module:name``: loading it runs it."""

from __future__ import annotations

import contextlib
import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from mechdesign.errors import InvalidInput, did_you_mean
from mechdesign.studies.frequencies.own import is_own, told


def named_code(names: tuple[str, ...]) -> dict[str, Any]:
    """What those among the names that are ``module:name`` stand for."""
    return {name: load(name) for name in names if is_own(name)}


def load(name: str) -> Any:
    """What ``module:name`` stands for; the current folder is one of those that modules are looked for in."""
    home = str(Path.cwd())
    if home not in sys.path and "" not in sys.path:
        sys.path.append(home)
    module, _, rest = name.partition(":")
    found: Any = _module(module, name)
    for part in rest.split("."):
        if not hasattr(found, part) and isinstance(found, ModuleType) and hasattr(found, "__path__"):
            _module(f"{found.__name__}.{part}", name)  # a package need not import its modules
        if not hasattr(found, part):
            known = [word for word in dir(found) if not word.startswith("_")]
            rule = f"name something that is in {plain_name(found)}"
            raise InvalidInput(name, part, rule, did_you_mean(part, known) or f"it has {', '.join(known[:8])}")
        found = getattr(found, part)
    return found


def plain_name(found: Any) -> str:
    """What a module, a class or a function is called."""
    return str(getattr(found, "__name__", type(found).__name__))


def _module(module: str, name: str) -> ModuleType:
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        if missing.name is not None and (module == missing.name or module.startswith(f"{missing.name}.")):
            rule = f"be importable: there is no module {missing.name} here or on Python's path"
            failure = InvalidInput(name, module, rule, f"run this where {module.partition('.')[0]}.py is")
        else:
            failure = InvalidInput(name, told(missing), f"load without an error: it needs {missing.name}")
    except (Exception, SystemExit) as error:
        failure = InvalidInput(name, told(error), "load without an error", f"try: python -c 'import {module}'")
    raise failure
