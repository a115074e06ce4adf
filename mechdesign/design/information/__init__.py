"""One parameter of a model, estimated from private reports with the most information."""

from mechdesign.design.information.models import MODELS, Cells, GaussianLocation, LogisticLocation
from mechdesign.design.information.problem import InformationProblem
from mechdesign.design.information.proof import InformationBound
from mechdesign.design.information.search import optimal_information, sign_information

__all__ = [
    "MODELS",
    "Cells",
    "GaussianLocation",
    "InformationBound",
    "InformationProblem",
    "LogisticLocation",
    "optimal_information",
    "sign_information",
]
