"""Design local differential privacy mechanisms by optimisation, with proofs.

>>> import mechdesign as md
>>> design = md.optimal_piecewise(md.PiecewiseProblem(epsilon=1.0, loss=md.Squared()))
>>> round(design.mechanism.high, 4), design.certificate.valid_for
(1.5093, 'piecewise mechanisms')
>>> bool(design.certificate.lower <= design.certificate.upper <= design.certificate.lower + 1e-12)
True
"""

TYPE_CHECKING = False  # for type checkers, who know the name; every import costs time before Ctrl-C has a handler
if TYPE_CHECKING:
    from mechdesign import collect, deploy, design, mechanisms, plot, priors, privacy
    from mechdesign.advice import Advice, advise
    from mechdesign.deploy import Table, load_table, make_table
    from mechdesign.design import (
        AdditiveProblem,
        Certificate,
        CustomProblem,
        Design,
        Distances,
        FiniteProblem,
        HiddenJointProblem,
        InformationProblem,
        InPlane,
        JointProblem,
        MinimaxProblem,
        PairwiseProblem,
        PiecewiseProblem,
        PolarProblem,
        PriorProblem,
        TradeOffProblem,
        UnbiasedPiecewiseProblem,
        UnbiasedProblem,
        WorkloadProblem,
        fit_height,
        floor_of,
        load_design,
        minimax_sweep,
        optimal_additive,
        optimal_custom,
        optimal_finite,
        optimal_hidden,
        optimal_information,
        optimal_joint,
        optimal_minimax,
        optimal_pairwise,
        optimal_piecewise,
        optimal_polar,
        optimal_prior,
        optimal_trade_off,
        optimal_unbiased,
        optimal_unbiased_piecewise,
        optimal_workload,
        pareto,
        solve,
    )
    from mechdesign.design.piecewise.program import search_pieces
    from mechdesign.domains import Circle, Finite, Interval
    from mechdesign.errors import (
        BrokenExtra,
        CheckFailed,
        FileProblem,
        InvalidInput,
        MechDesignError,
        MissingExtra,
        NoAnswer,
        SolverFailed,
    )
    from mechdesign.exact.privacy import prove_privacy
    from mechdesign.field import field_of
    from mechdesign.losses import Absolute, Custom, Power, Squared
    from mechdesign.mechanisms import catalogue
    from mechdesign.pairs import Metric, Pairwise

__version__ = "0.1.0"

__all__ = [
    "Absolute",
    "AdditiveProblem",
    "Advice",
    "BrokenExtra",
    "Certificate",
    "CheckFailed",
    "Circle",
    "Custom",
    "CustomProblem",
    "Design",
    "Distances",
    "FileProblem",
    "Finite",
    "FiniteProblem",
    "HiddenJointProblem",
    "InPlane",
    "InformationProblem",
    "Interval",
    "InvalidInput",
    "JointProblem",
    "MechDesignError",
    "Metric",
    "MinimaxProblem",
    "MissingExtra",
    "NoAnswer",
    "Pairwise",
    "PairwiseProblem",
    "PiecewiseProblem",
    "PolarProblem",
    "Power",
    "PriorProblem",
    "SolverFailed",
    "Squared",
    "Table",
    "TradeOffProblem",
    "UnbiasedPiecewiseProblem",
    "UnbiasedProblem",
    "WorkloadProblem",
    "advise",
    "catalogue",
    "collect",
    "deploy",
    "design",
    "field_of",
    "fit_height",
    "floor_of",
    "load_design",
    "load_table",
    "make_table",
    "mechanisms",
    "minimax_sweep",
    "optimal_additive",
    "optimal_custom",
    "optimal_finite",
    "optimal_hidden",
    "optimal_information",
    "optimal_joint",
    "optimal_minimax",
    "optimal_pairwise",
    "optimal_piecewise",
    "optimal_polar",
    "optimal_prior",
    "optimal_trade_off",
    "optimal_unbiased",
    "optimal_unbiased_piecewise",
    "optimal_workload",
    "pareto",
    "plot",
    "priors",
    "privacy",
    "prove_privacy",
    "search_pieces",
    "solve",
]


_SUBMODULES = {
    "catalogue": "mechanisms.catalogue",
    "collect": "collect",
    "deploy": "deploy",
    "design": "design",
    "mechanisms": "mechanisms",
    "plot": "plot",
    "priors": "priors",
    "privacy": "privacy",
}
_HOMES = {
    "Absolute": "losses",
    "BrokenExtra": "errors",
    "Advice": "advice",
    "CheckFailed": "errors",
    "Circle": "domains",
    "Custom": "losses",
    "FileProblem": "errors",
    "field_of": "field",
    "Finite": "domains",
    "Interval": "domains",
    "InvalidInput": "errors",
    "MechDesignError": "errors",
    "Metric": "pairs",
    "MissingExtra": "errors",
    "NoAnswer": "errors",
    "Pairwise": "pairs",
    "Power": "losses",
    "SolverFailed": "errors",
    "Squared": "losses",
    "Table": "deploy",
    "advise": "advice",
    "load_table": "deploy",
    "make_table": "deploy",
    "prove_privacy": "exact",
}
"""Where names live that are not in `mechdesign.design`."""


def __getattr__(name: str) -> object:
    # nothing is imported before it is asked for: a command says what Ctrl-C means before numpy is read
    from importlib import import_module

    value: object = None
    if name in __all__ and name not in _SUBMODULES:
        value = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'design')}"), name)
    elif not name.startswith("_"):
        module = f"{__name__}.{_SUBMODULES.get(name, name)}"
        try:
            value = import_module(module)
        except ModuleNotFoundError as missing:
            if missing.name != module:
                raise
    if value is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
