"""What Sphinx is told about the site; see `build`."""
import pathlib
import sys

root = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(root / "python"))

project = html_title = "navd"
extensions = ["myst_parser", "sphinx.ext.autodoc", "breathe"]
include_patterns = ["**.md", "**.rst"]
html_theme = "furo"
# Two hyphens of an option stay two.
smartquotes = False
html_copy_source = False
html_show_sphinx = False
myst_heading_anchors = 4
# DocC leaves levels of headings out; some blocks are messages with arrows, or have an ellipsis.
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
autodoc_member_order = "bysource"
breathe_projects = {"navd": str(root / ".build/site-pages/doxygen/xml")}
breathe_default_project = "navd"
