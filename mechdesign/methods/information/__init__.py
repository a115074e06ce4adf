"""One parameter of a model, estimated from private reports with the most information."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.information.proof import InformationBound as InformationBound
    from mechdesign.methods.information.search import (
        cells_tell_sign as cells_tell_sign,
        sign_information as sign_information,
    )
else:
    __getattr__, __dir__ = facade(__name__)
