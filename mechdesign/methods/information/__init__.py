"""One parameter of a model, estimated from private reports with the most information."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.information.models import (
        MODELS as MODELS,
        Cells as Cells,
        GaussianLocation as GaussianLocation,
        LogisticLocation as LogisticLocation,
    )
    from mechdesign.methods.information.problem import InformationProblem as InformationProblem
    from mechdesign.methods.information.proof import InformationBound as InformationBound
    from mechdesign.methods.information.search import (
        cells_tell_sign as cells_tell_sign,
        optimal_information as optimal_information,
        sign_information as sign_information,
    )
else:
    __getattr__, __dir__ = facade(__name__)
