"""How `make docs` makes the site: from Markdown pages, from scripts that it runs, and from the docstrings."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

from figures import FigureScraper, ToldWhere  # noqa: E402
from numpydoc.xref import DEFAULT_LINKS  # noqa: E402

import reluscope  # noqa: E402

project = "reluscope"
author = "The reluscope developers"
copyright = f"2026, {author}"  # noqa: A001
version = release = reluscope.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    # Ours, in _extensions/.
    "elsewhere",
    "figures",
    "inventories",
    "reference",
    "results",
]
exclude_patterns = ["_build", "_extensions", "gallery", "tutorials", "auto/**/*.ipynb", "auto/**/*.py", "**.md5"]
default_role = "py:obj"
nitpicky = False

# Markdown.
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

# Docstrings.
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
# Only what is always there is linked: no glossary of another project.
numpydoc_xref_aliases = {name: name for name in DEFAULT_LINKS} | {
    name: f"reluscope.{name}" for name in reluscope.__all__ if name[0].isupper()
}

# Sections of the gallery, in their order.
SECTIONS = ("planes", "counts", "space", "inputs", "codes", "networks", "verification", "tiny", "known_results")

# Scripts. Those of examples/ write a picture where they are told to.
sphinx_gallery_conf = {
    "examples_dirs": ["../examples", "tutorials", "gallery"],
    "gallery_dirs": ["auto/examples", "auto/tutorials", "auto/gallery"],
    "filename_pattern": r"\.py$",
    "image_scrapers": (FigureScraper(),),
    "capture_repr": ("_repr_html_",),
    "reset_modules": ("matplotlib",),
    "reset_argv": ToldWhere(),
    "abort_on_example_error": True,
    "subsection_order": [f"gallery/{section}" for section in SECTIONS],
    "within_subsection_order": "figures.planes_first",
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1,
    "write_computation_times": False,
    "download_all_examples": False,
    "first_notebook_cell": "# pip install reluscope\n%matplotlib inline",
    "thumbnail_size": (480, 336),
}

# Pages.
html_theme = "pydata_sphinx_theme"
html_title = "reluscope"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
# Pages that have no others below or beside them.
html_sidebars = {page: [] for page in ("index", "getting-started", "cookbook", "peers", "claims")}
html_theme_options = {
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "show_nav_level": 1,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
