"""Design local differential privacy mechanisms by optimisation, with proofs.

>>> import mechdesign as md
>>> design = md.optimal_piecewise(md.PiecewiseProblem(epsilon=1.0, loss=md.Squared()))
>>> round(design.mechanism.high, 4), design.certificate.valid_for
(1.5093, 'piecewise mechanisms')
>>> bool(design.certificate.lower <= design.certificate.upper <= design.certificate.lower + 1e-12)
True
"""

from typing import TYPE_CHECKING

from mechdesign import collect, deploy, design, priors
from mechdesign.deploy import Table, load_table, make_table
from mechdesign.design import (
    AdditiveProblem,
    Certificate,
    Design,
    FiniteProblem,
    JointProblem,
    MinimaxProblem,
    PiecewiseProblem,
    PolarProblem,
    PriorProblem,
    TradeOffProblem,
    UnbiasedPiecewiseProblem,
    UnbiasedProblem,
    fit_height,
    floor_of,
    load_design,
    minimax_sweep,
    optimal_additive,
    optimal_finite,
    optimal_joint,
    optimal_minimax,
    optimal_piecewise,
    optimal_polar,
    optimal_prior,
    optimal_trade_off,
    optimal_unbiased,
    optimal_unbiased_piecewise,
    pareto,
)
from mechdesign.domains import Circle, Finite, Interval
from mechdesign.errors import CheckFailed, FileProblem, InvalidInput, MechDesignError, MissingExtra, NoAnswer
from mechdesign.losses import Absolute, Custom, Power, Squared
from mechdesign.mechanisms import catalogue
from mechdesign.proof import prove_privacy

if TYPE_CHECKING:
    from mechdesign.design.piece_program import search_pieces as search_pieces

__version__ = "0.1.0"

__all__ = [
    "Absolute",
    "AdditiveProblem",
    "Certificate",
    "CheckFailed",
    "Circle",
    "Custom",
    "Design",
    "FileProblem",
    "Finite",
    "FiniteProblem",
    "Interval",
    "InvalidInput",
    "JointProblem",
    "MechDesignError",
    "MinimaxProblem",
    "MissingExtra",
    "NoAnswer",
    "PiecewiseProblem",
    "PolarProblem",
    "Power",
    "PriorProblem",
    "Squared",
    "Table",
    "TradeOffProblem",
    "UnbiasedPiecewiseProblem",
    "UnbiasedProblem",
    "catalogue",
    "collect",
    "deploy",
    "design",
    "fit_height",
    "floor_of",
    "load_design",
    "load_table",
    "make_table",
    "minimax_sweep",
    "optimal_additive",
    "optimal_finite",
    "optimal_joint",
    "optimal_minimax",
    "optimal_piecewise",
    "optimal_polar",
    "optimal_prior",
    "optimal_trade_off",
    "optimal_unbiased",
    "optimal_unbiased_piecewise",
    "pareto",
    "priors",
    "prove_privacy",
    "search_pieces",
]


def __getattr__(name: str) -> object:
    # the global solvers are only imported by those who ask for them
    if name == "search_pieces":
        from mechdesign.design.piece_program import search_pieces

        return search_pieces
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
