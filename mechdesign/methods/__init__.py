"""One folder a method: a problem goes in, a `Design` (mechanism + certificate + report) comes out.

A folder says what is answered (``supports.py``), how (``search.py`` and its programs) and what proves the answer
(``proof.py``). `mechdesign.methods.registry` lists them. Names are imported when they are asked for.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.additive.tuning import Tuning as Tuning, tune as tune
    from mechdesign.methods.floor import Floor as Floor, floor_of as floor_of
    from mechdesign.methods.minimax.search import minimax_sweep as minimax_sweep
    from mechdesign.methods.piecewise.regression import HeightFormula as HeightFormula, fit_height as fit_height
    from mechdesign.methods.registry import methods as methods, solve as solve
    from mechdesign.methods.result import Certificate as Certificate, Design as Design, Report as Report
    from mechdesign.methods.saved import load_design as load_design
    from mechdesign.methods.trade_off.search import pareto as pareto
else:
    __getattr__, __dir__ = facade(__name__)


class _Package(ModuleType):
    """The package is the question, too: ``md.methods(problem)`` says of every method why it does not answer."""

    def __call__(self, problem: Any) -> dict[str, str | None]:
        from mechdesign.methods.registry import methods

        return methods(problem)


sys.modules[__name__].__class__ = _Package
