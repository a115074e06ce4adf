"""The same examples on every machine, so that a red run can be repeated; ``HYPOTHESIS_PROFILE=explore`` draws new ones.

No example is timed: machines are noisy, and speeds live in ``benchmarks/``.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("repeat", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))
