"""How the documentation is built: ``make docs``. Nothing on a page is fetched from elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

import mechdesign  # noqa: E402

project = "mechdesign"
author = "the mechdesign contributors"
copyright = author
version = release = mechdesign.__version__

extensions = [
    "myst_nb",  # Markdown too
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "mathml",
    "api_pages",
    "command_help",
    "gallery_pages",
    "glossary_pages",
    "guarantee_pages",
    "notebook_pages",
]
nb_execution_mode = "off"  # `notebook_pages` hands over executed copies
exclude_patterns = ["_build", "_extensions"]
suppress_warnings = ["myst.header"]  # a page may include a document that has headings of its own

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
# spelt out the first is three lines long, and the other has namesakes
autodoc_type_aliases = {name: name for name in ("ArrayLike", "Inputs")}
autodoc_default_options = {"members": True}
autosummary_generate = False
default_role = "py:obj"  # docstrings name things in single backticks; what is no public name is set as code
python_maximum_signature_line_length = 88

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

html_theme = "furo"
html_title = "mechdesign"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1a5a96", "color-brand-content": "#1a5a96"},
    "dark_css_variables": {"color-brand-primary": "#7ab7ee", "color-brand-content": "#7ab7ee"},
}
html_math_renderer = "mathml"
