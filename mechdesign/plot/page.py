"""The figure that every picture is: files of it hold letters as letters, which publishers ask for."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

FONTS = {"pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "none"}
"""TrueType in PDF and PostScript (the library's own choice, Type 3, is refused by ACM and IEEE), text in SVG."""


class Page(Figure):
    """A figure whose files hold `FONTS`, however they are written and whatever the reader's own settings are."""

    def savefig(self, *where: Any, **how: Any) -> None:
        with mpl.rc_context(FONTS):
            super().savefig(*where, **how)
