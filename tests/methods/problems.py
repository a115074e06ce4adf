"""Problems that many tests ask, in as few words as they need."""

from __future__ import annotations

import mechdesign as md
from mechdesign.words.models import Model


def information(epsilon: float, model: Model) -> md.Problem:
    """About one parameter of a model."""
    return md.Problem(loss=model, privacy=md.Pure(epsilon), criterion=md.Average())
