"""How the site is built: `make docs`."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extension"))

project = "Discreet"
author = "The Discreet authors"
release = installed_version("discreet")
version = release

extensions = [
    "myst_parser",
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
exclude_patterns = ["extension", "site"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # proof notes begin where a page of theirs would

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
    "plot_gallery": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "Discreet"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navigation_depth": 2,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
copyright = "The Discreet authors, Apache-2.0"
nitpicky = False
