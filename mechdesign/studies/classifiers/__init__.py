"""Classifiers whose inputs are perturbed: how likely the label is kept, by theory, exactly, and at most.

>>> import numpy as np
>>> inside = Classifier(lambda points: (points[:, 0] >= 0.2) & (points[:, 0] <= 0.8), 1)
>>> record = Record(inside, np.array([0.5]))
>>> law = perturbation("laplace", 2.0)
>>> box = robust_box(record, np.random.default_rng(1), law=law)
>>> found = utility(box, law, record.sent)
>>> round(found.rho, 2), found.says
(0.45, 'estimate')
"""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.studies.classifiers.cells import Enclosure as Enclosure, decompose as decompose
    from mechdesign.studies.classifiers.choice import (
        Chosen as Chosen,
        ranked as ranked,
        rho_curve as rho_curve,
        smallest_epsilon as smallest_epsilon,
    )
    from mechdesign.studies.classifiers.concentration import (
        NAMES as NAMES,
        Perturbation as Perturbation,
        concentration as concentration,
        curve as curve,
        perturbation as perturbation,
    )
    from mechdesign.studies.classifiers.floor import (
        TradeOffPoint as TradeOffPoint,
        Zones as Zones,
        label_optimum as label_optimum,
        trade_off as trade_off,
        where_it_lies as where_it_lies,
        without_cap as without_cap,
        zones_of as zones_of,
    )
    from mechdesign.studies.classifiers.models import (
        Classifier as Classifier,
        Record as Record,
        load_model as load_model,
        of_estimator as of_estimator,
        require_features as require_features,
    )
    from mechdesign.studies.classifiers.pac import (
        clipped_gaussian_deviation as clipped_gaussian_deviation,
        composed as composed,
        composed_gaussian_delta as composed_gaussian_delta,
        dp_deviation as dp_deviation,
        gaussian_deviation as gaussian_deviation,
        indicator_delta as indicator_delta,
        pac_delta as pac_delta,
        printed_deviation as printed_deviation,
        with_indicator as with_indicator,
    )
    from mechdesign.studies.classifiers.robustness import (
        BoxSearch as BoxSearch,
        Robust as Robust,
        SampledTest as SampledTest,
        given_box as given_box,
        radius as radius,
        rectangle as rectangle,
        robust_box as robust_box,
        structure as structure,
    )
    from mechdesign.studies.classifiers.survival import (
        Simulated as Simulated,
        UniformPoints as UniformPoints,
        Utility as Utility,
        all_cells as all_cells,
        exact_survival as exact_survival,
        simulate as simulate,
        simulate_all as simulate_all,
        utility as utility,
    )
else:
    __getattr__, __dir__ = facade(__name__, "concentration")
