"""How the site is built: `make docs`."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

import discreet

sys.path.insert(0, str(Path(__file__).parent / "extension"))

project = "Discreet"
author = "The Discreet authors"
release = installed_version("discreet")
version = release

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx-mathjax-offline",
    "sphinx_gallery.gen_gallery",
    "api_pages",
    "outside_links",
    "proof_notes",
    "repository_pages",
]
exclude_patterns = [
    "extension",
    "generated/gallery/*.ipynb",
    "jupyter_execute",
    "site",
    "templates",
]
templates_path = ["templates"]
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb", ".ipynb": "myst-nb"}

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # proof notes begin where a page of theirs would

nb_execution_mode = "force"  # every notebook runs, each time
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_timeout = 300

autodoc_typehints = "none"  # numpydoc's Parameters say it in words
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_validation_checks: set[str] = set()

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "generated/gallery",
    "filename_pattern": r"/plot_",
    "download_all_examples": False,
    "show_memory": False,
    "parallel": True,  # as many as sphinx-build is told
    "plot_gallery": True,
    "write_computation_times": False,  # that page asks for styles and scripts from the network
}

html_theme = "pydata_sphinx_theme"
html_title = "Discreet"
html_favicon = str(Path(discreet.__file__).parent / "service" / "web_page" / "icon.svg")
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}  # without it the first visit logs an error
html_theme_options = {
    "collapse_navigation": True,  # five hundred pages of names would be in every sidebar
    "navigation_depth": 2,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
copyright = "The Discreet authors, Apache-2.0"
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(sklearn|numpy|collections)\..*")]  # documented elsewhere


def setup(app: Any) -> None:
    """Say of an extension that does not say so itself that pages may be read in parallel."""
    app.extensions["sphinx-mathjax-offline"].parallel_read_safe = True
