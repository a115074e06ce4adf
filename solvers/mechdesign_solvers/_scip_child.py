"""The process SCIP runs in: ``python -m mechdesign_solvers._scip_child``. Reads one pickled task, writes JSON lines."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import json
import math
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, TextIO

import numpy as np

from .programs import BilinearProgram, Product

Report = Callable[[Mapping[str, Any]], None]

_PARENT_DEATH_SIGNAL = 1
_OVERTIME_SECONDS = 10.0


def main() -> None:
    """Solve the task on standard input, reporting on what was standard output."""
    _die_with_parent()
    channel = _private_output()

    def report(news: Mapping[str, Any]) -> None:
        channel.write(json.dumps(news) + "\n")
        channel.flush()

    try:
        task = pickle.load(sys.stdin.buffer)
        threading.Thread(target=_exit_at_end_of_input, daemon=True).start()

        def report_in_time(news: Mapping[str, Any]) -> None:
            if "started" in news and task["seconds"] is not None:  # not before: libraries may take long to load
                # Last resort, for a parent which can no longer kill; runs without the interpreter lock.
                faulthandler.dump_traceback_later(task["seconds"] + _OVERTIME_SECONDS, exit=True)
            report(news)

        solve(task["program"], task["parameters"], report_in_time)
    except Exception as error:  # whatever it is, the parent must hear of it
        report({"failure": f"{type(error).__name__}: {error}"})


def solve(program: BilinearProgram, parameters: Mapping[str, Any], report: Report) -> None:
    """Solve and report ``started``, then bounds and points, then an ``outcome``."""
    model = _pyomo_model(program)
    if model is None:
        report({"started": True, "outcome": "infeasible"})
        return
    solver = _scip_direct(report, program)
    report({"started": True, "version": _versions()})
    solver.run(model, parameters)
    scip = solver.scip
    outcome = scip.getStatus()
    if outcome == "inforunbd":
        outcome = _which(program, parameters)
    bound = _finite(scip, scip.getDualbound())
    if outcome in ("optimal", "gaplimit", "timelimit", "nodelimit", "totalnodelimit"):
        solver.report_point()
    report({"outcome": outcome, "bound": bound, "nodes": scip.getNTotalNodes()})


def _which(program: BilinearProgram, parameters: Mapping[str, Any]) -> str:
    """Infeasible or unbounded? Without an objective only the first remains possible."""
    linear = program.linear
    free = type(linear)(
        np.zeros(linear.columns),
        linear.matrix,
        linear.row_lower,
        linear.row_upper,
        linear.lower,
        linear.upper,
    )
    costless = BilinearProgram(free, (), program.row_products)
    solver = _scip_direct(lambda news: None, costless)
    solver.run(_pyomo_model(costless), parameters)
    outcome = str(solver.scip.getStatus())
    return "unbounded" if outcome in ("optimal", "gaplimit") else outcome


def _pyomo_model(program: BilinearProgram) -> Any:
    """The program in Pyomo; ``None`` if a row without variables already contradicts itself."""
    import pyomo.environ as pyo

    linear = program.linear
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(linear.columns))
    for j in range(linear.columns):
        model.x[j].setlb(_side(linear.lower[j]))
        model.x[j].setub(_side(linear.upper[j]))

    def product(term: Product) -> Any:
        return term.coefficient * model.x[term.left] * model.x[term.right]

    products: dict[int, list[Any]] = {}
    for row, term in program.row_products:
        if term.coefficient != 0:
            products.setdefault(row, []).append(product(term))
    model.rows = pyo.ConstraintList()
    matrix = linear.matrix
    for row in range(linear.rows):
        low, high = _side(linear.row_lower[row]), _side(linear.row_upper[row])
        entries = slice(matrix.indptr[row], matrix.indptr[row + 1])
        terms = [
            float(value) * model.x[int(column)]
            for column, value in zip(matrix.indices[entries], matrix.data[entries], strict=True)
            if value != 0
        ]
        terms += products.get(row, [])
        if not terms:
            if not linear.row_lower[row] <= 0 <= linear.row_upper[row]:
                return None
        elif low is not None and low == high:
            model.rows.add(pyo.quicksum(terms) == low)
        elif low is not None or high is not None:
            model.rows.add((low, pyo.quicksum(terms), high))
    cost = [float(c) * model.x[j] for j, c in enumerate(linear.cost) if c != 0]
    cost += [product(term) for term in program.objective_products if term.coefficient != 0]
    model.objective = pyo.Objective(expr=pyo.quicksum(cost))
    return model


def _scip_direct(report: Report, program: BilinearProgram) -> Any:
    """Pyomo's direct interface to SCIP, with a listener in the SCIP model and a bounded objective."""
    from pyomo.contrib.solver.common.factory import SolverFactory
    from pyscipopt import SCIP_EVENTTYPE, Eventhdlr

    events = SCIP_EVENTTYPE.BESTSOLFOUND | SCIP_EVENTTYPE.NODESOLVED | SCIP_EVENTTYPE.LPSOLVED

    class Listener(Eventhdlr):  # type: ignore[misc]
        def __init__(self, on_event: Callable[[Any, Any], None]) -> None:
            self._on_event = on_event

        def eventinit(self) -> None:
            self.model.catchEvent(events, self)

        def eventexit(self) -> None:
            self.model.dropEvent(events, self)

        def eventexec(self, event: Any) -> None:
            self._on_event(self.model, event)

    class ReportingScip(_direct_interface(SolverFactory)):  # type: ignore[misc]
        def run(self, model: Any, parameters: Mapping[str, Any]) -> None:
            self._columns = [model.x[j] for j in model.x]
            self._reported = -math.inf
            # Pyomo turns SCIP's log on and reads it through a pipe, from a thread which cannot run while
            # SCIP holds the interpreter lock: should the pipe fill up, SCIP waits for ever. Hence no log.
            quiet = {"display/verblevel": 0, "misc/catchctrlc": False}
            self.solve(
                model,
                solver_options={**parameters, **quiet},
                load_solutions=False,
                raise_exception_on_nonoptimal_result=False,
            )

        @property
        def scip(self) -> Any:
            return self._solver_model

        def report_point(self) -> None:
            if self.scip.getNSols() > 0:
                self._report_best(self.scip)

        def _create_solver_model(self, model: Any, config: Any) -> Any:
            created = super()._create_solver_model(model, config)
            low, high = program.objective_range()
            # Pyomo leaves the variable that stands for the objective without bounds.
            if low > -math.inf:
                self._solver_model.chgVarLb(self._obj_var, low)
            if high < math.inf:
                self._solver_model.chgVarUb(self._obj_var, high)
            self._solver_model.includeEventhdlr(Listener(self._hear), "report", "reports points and bounds")
            return created

        def _hear(self, scip: Any, event: Any) -> None:
            if event.getType() & SCIP_EVENTTYPE.BESTSOLFOUND:
                self._report_best(scip)
            bound = _finite(scip, scip.getDualbound())
            if self._reported < bound < math.inf:
                self._reported = bound
                report({"bound": bound, "nodes": scip.getNTotalNodes()})

        def _report_best(self, scip: Any) -> None:
            best = scip.getBestSol()
            known = self._pyomo_var_to_solver_var_map
            # Columns which no row and no cost mention never reach SCIP; any value within bounds will do.
            report({"point": [float(best[known[v]]) if v in known else _idle(v) for v in self._columns]})

    return ReportingScip()


def _direct_interface(factory: Any) -> Any:
    try:
        return factory.get_class("scip_direct")
    except KeyError:
        import pyomo

        raise ImportError(f"pyomo {pyomo.version.version} has no direct interface to SCIP") from None


def _idle(variable: Any) -> float:
    low, high = variable.bounds
    return float(min(max(0.0, -math.inf if low is None else low), math.inf if high is None else high))


def _finite(scip: Any, value: float) -> float:
    if value <= -scip.infinity():
        return -math.inf
    return math.inf if value >= scip.infinity() else float(value)


def _side(bound: float) -> float | None:
    return float(bound) if math.isfinite(bound) else None


def _versions() -> str:
    import pyomo
    import pyscipopt

    model = pyscipopt.Model()
    number = f"{model.getMajorVersion()}.{model.getMinorVersion()}.{model.getTechVersion()}"
    return f"scip {number} / pyscipopt {pyscipopt.__version__} / pyomo {pyomo.version.version}"


def _private_output() -> TextIO:
    """Keep the channel for reports alone: whatever libraries print goes nowhere."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return channel


def _die_with_parent() -> None:
    # The parent answers the keyboard, and kills this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def _exit_at_end_of_input() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    main()
