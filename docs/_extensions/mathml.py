"""Formulas as MathML, which browsers draw themselves: no script, no font and no network.

The conversion is docutils' own; a formula it does not know is an error of the build.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

_LOGGER = logging.getLogger(__name__)


def _written(translator: Any, node: nodes.Element, *, as_block: bool) -> None:
    try:
        formula = tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        _LOGGER.warning("formula %r: %s", node.astext(), error, location=node)
        formula = f"<code>{translator.encode(node.astext())}</code>"
    opening, closing = ('<div class="math">', "</div>\n") if as_block else ('<span class="math">', "</span>")
    translator.body.append(f"{opening}{formula}{closing}")
    raise nodes.SkipNode


def _inline(translator: Any, node: nodes.math) -> None:
    _written(translator, node, as_block=False)


def _block(translator: Any, node: nodes.math_block) -> None:
    _written(translator, node, as_block=True)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
