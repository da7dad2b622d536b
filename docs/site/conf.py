# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sphinx's settings for the site. build_site.py makes the folder of pages that
# Sphinx reads; nothing here comes from the network.
from pathlib import Path

project = "mpgtools"
author = "the developers of mpgtools"
copyright = "Apache License 2.0 with LLVM exceptions"  # noqa: A001
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
# As many as GitHub has: links lead to them.
myst_heading_anchors = 6
# The options of the man pages are lists of definitions.
myst_enable_extensions = ["deflist"]
# Search works from the disk: Sphinx writes its own index, no server is asked.
html_theme = "furo"
version = (Path(__file__).resolve().parents[2] / "VERSION").read_text("utf-8").strip()
html_title = f"mpgtools {version}"
html_static_path = [str(Path(__file__).parent / "static")]
html_css_files = ["mpgtools.css"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
# Consoles of programs, which no lexer knows, need no colours.
highlight_language = "text"
# A console with an apostrophe in what is printed is no shell script; it is shown
# without colours.
suppress_warnings = ["misc.highlighting_failure"]
# Two hyphens are those of an option.
smartquotes = False
