"""How Sphinx builds the documentation; ``make docs`` runs it."""

from __future__ import annotations

import os
import re
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import pgm_explainer  # noqa: E402

# Those of other packages, which would be part of the output of examples.
warnings.filterwarnings("ignore", category=DeprecationWarning)

project = "pgm-explainer"
author = "The pgm-explainer developers"
copyright = "the pgm-explainer developers"  # noqa: A001
version = release = pgm_explainer.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "accessible",
    "api_pages",
    "mathml",
    "repository_links",
]
exclude_patterns = ["_build", "examples", "gallery/*.ipynb", "gallery/*.py"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "substitution"]
myst_heading_anchors = 4
nb_execution_mode = "auto"  # pages of the guide have no stored output, the tutorial does
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_merge_streams = True
nb_output_stderr = "remove"  # progress bars

toc_object_entries_show_parents = "hide"  # the titles of the pages name the module
html_theme = "furo"
html_title = f"pgm-explainer {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}

# ``$`` and ``>>>`` are not part of a command.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
autodoc_default_options = {"exclude-members": "__init__, __new__"}
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
python_use_unqualified_type_names = True
python_display_short_literal_types = True
python_maximum_signature_line_length = 88

# Every reference in a text must lead somewhere. Types in signatures may belong to other packages or
# to internal modules, which have no page here.
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!pgm_explainer\.).*"), ("py:class", r"pgm_explainer\..*")]

DATA = os.environ.get("PGM_EXPLAINER_DATA")
PATTERNS = ["plot_"]
if DATA:
    PATTERNS.append("data_")
if find_spec("ray"):
    PATTERNS.append("ray_")


sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/(" + "|".join(PATTERNS) + ")",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "write_computation_times": False,
    "matplotlib_animations": False,
    "reset_modules": ("matplotlib",),
    "thumbnail_size": (400, 280),
    "nested_sections": False,
}

OPTIONAL = ("models", "families")
"""Pages of the table of contents that a version may lack."""


def leave_out_absent_pages(app: Sphinx, name: str, content: list[str]) -> None:
    """Remove optional pages that do not exist from the table of contents."""
    if name == app.config.root_doc:
        absent = {page for page in OPTIONAL if not (HERE / f"{page}.md").exists()}
        content[0] = "\n".join(line for line in content[0].split("\n") if line not in absent)


NOTE = """
.. note::

   This site was built without the data of this example, so its output is not shown. Set the
   variable ``PGM_EXPLAINER_DATA`` to the folder of the data, and run ``make docs`` again.
"""


def say_what_was_not_run(_: Sphinx, name: str, content: list[str]) -> None:
    """Add a note to an example whose data are not here, below its title."""
    if name.startswith("gallery/data_") and not DATA:
        content[0] = re.sub(r"(\n=+\n)", lambda line: line[1] + NOTE, content[0], count=1)


def setup(app: Sphinx) -> None:
    """Register what has no separate extension."""
    app.connect("source-read", leave_out_absent_pages)
    app.connect("source-read", say_what_was_not_run)
    app.add_lexer("csv", TextLexer)
