"""Joint randomised response: groups whose answers are drawn together."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.joint.grouping import Grouping as Grouping, goal_of as goal_of, grouping_of as grouping_of
    from mechdesign.methods.joint.proof import (
        ClosedForm as ClosedForm,
        DualBound as DualBound,
        JointClaim as JointClaim,
    )
    from mechdesign.methods.joint.search import (
        Heuristic as Heuristic,
        heuristic as heuristic,
        parts as parts,
        ratio as ratio,
    )
else:
    __getattr__, __dir__ = facade(__name__)
