"""Parts of scipy that are read when something in them is asked for: no command waits for what it does not compute.

>>> from mechdesign.values.later import special
>>> float(special.ndtr(0.0))
0.5
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["optimize", "signal", "sparse", "special", "stats"]

if TYPE_CHECKING:
    from scipy import optimize, signal, sparse, special, stats
else:

    class _Later(ModuleType):
        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):  # asked of every module by those who look for tests or documents
                raise AttributeError(name)
            return getattr(sys.modules.get(self.__name__) or import_module(self.__name__), name)

    optimize, signal, sparse, special, stats = (_Later(f"scipy.{part}") for part in __all__)
