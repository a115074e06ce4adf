"""Classifiers whose inputs are perturbed: how likely the label is kept, by theory, exactly, and at most.

>>> import numpy as np
>>> inside = Classifier(lambda points: (points[:, 0] >= 0.2) & (points[:, 0] <= 0.8), 1)
>>> record = Record(inside, np.array([0.5]))
>>> box, law = robust_box(record, np.random.default_rng(1)), perturbation("laplace", 2.0)
>>> found = utility(box, law, record.sent)
>>> round(found.rho, 2), found.says
(0.45, 'estimate')
"""

from mechdesign.classifier.cells import Enclosure, decompose
from mechdesign.classifier.choice import Chosen, ranked, rho_curve, smallest_epsilon
from mechdesign.classifier.concentration import NAMES, Perturbation, concentration, curve, perturbation
from mechdesign.classifier.floor import (
    TradeOffPoint,
    Zones,
    label_optimum,
    trade_off,
    where_it_lies,
    without_cap,
    zones_of,
)
from mechdesign.classifier.models import Classifier, Record, load_model, of_estimator, require_features
from mechdesign.classifier.pac import (
    clipped_gaussian_deviation,
    composed,
    composed_gaussian_delta,
    dp_deviation,
    gaussian_deviation,
    indicator_delta,
    pac_delta,
    printed_deviation,
    with_indicator,
)
from mechdesign.classifier.robustness import Robust, SampledTest, radius, rectangle, robust_box, structure
from mechdesign.classifier.survival import (
    Simulated,
    UniformPoints,
    Utility,
    all_cells,
    exact_survival,
    simulate,
    simulate_all,
    utility,
)

__all__ = [
    "NAMES",
    "Chosen",
    "Classifier",
    "Enclosure",
    "Perturbation",
    "Record",
    "Robust",
    "SampledTest",
    "Simulated",
    "TradeOffPoint",
    "UniformPoints",
    "Utility",
    "Zones",
    "all_cells",
    "clipped_gaussian_deviation",
    "composed",
    "composed_gaussian_delta",
    "concentration",
    "curve",
    "decompose",
    "dp_deviation",
    "exact_survival",
    "gaussian_deviation",
    "indicator_delta",
    "label_optimum",
    "load_model",
    "of_estimator",
    "pac_delta",
    "perturbation",
    "printed_deviation",
    "radius",
    "ranked",
    "rectangle",
    "require_features",
    "rho_curve",
    "robust_box",
    "simulate",
    "simulate_all",
    "smallest_epsilon",
    "structure",
    "trade_off",
    "utility",
    "where_it_lies",
    "with_indicator",
    "without_cap",
    "zones_of",
]
