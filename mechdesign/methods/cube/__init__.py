"""Two or three numbers of one person: each is rounded to a grid, and the place on the grid is reported."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.cube.proof import CubeBound as CubeBound
else:
    __getattr__, __dir__ = facade(__name__)
