"""The best joint response of all users at once, private against everybody else together."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.hidden_joint.crowd import (
        Crowd as Crowd,
        Objective as Objective,
        crowd_of as crowd_of,
        expected_ratio as expected_ratio,
        limit_ratio as limit_ratio,
    )
    from mechdesign.methods.hidden_joint.proof import (
        HockeyDuals as HockeyDuals,
        IndependentBest as IndependentBest,
        PeakLines as PeakLines,
        attained_by as attained_by,
    )
    from mechdesign.methods.hidden_joint.search import (
        best_peaked as best_peaked,
        parts as parts,
        ratio as ratio,
        without as without,
    )
else:
    __getattr__, __dir__ = facade(__name__)
