#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""build_site.py OUTPUT --llvm-bin DIR: the documentation as a web site.

Takes docs/ as it is, adds the reference pages that are made from tables, and has
Sphinx build OUTPUT/html: open index.html in a browser, no server is needed.
The first page is what README.md says before "What you get", then docs/README.md, whose
headings and links are the navigation. A warning, a link inside the site that is dead for
one, is an error. Needs Sphinx, MyST and the theme furo (Debian: python3-sphinx,
python3-myst-parser, furo).
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import List

from reference_pages import ROOT, all_pages
from site_blocks import fill_blocks

HERE = Path(__file__).resolve().parent
LINK = re.compile(r"\[([^][]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
GENERATED = {"Reference": ["all-findings", "all-variables", "all-options"]}
# Pages of the top folder.
TOP_PAGES = ["CHANGELOG.md", "RELEASING.md", "CONTRIBUTING.md", "SECURITY.md"]


def without_outside(text: str) -> str:
    """A link to a file that the site does not have becomes its words."""
    return re.sub(r"\[([^][]*)\]\(\.\./(?!schema/|docs/|\w[\w-]*\.md)[^)]*\)", r"\1",
                  text)


def from_top(text: str) -> str:
    """A page of the top folder as one of docs/: its links lead from there."""
    text = re.sub(r"\]\(docs/", "](", text)
    return re.sub(r"\[([^][]*)\]\((?!https?:|#)([^)\s]*)\)",
                  lambda link: link[0] if (ROOT / "docs" / link[2].split("#")[0]).exists()
                  or link[2] in TOP_PAGES else link[1], text)


def first_screen() -> str:
    """What README.md says before its examples, with the version and the commit."""
    text = (ROOT / "README.md").read_text("utf-8").split("\n## What you get")[0]
    version = (ROOT / "VERSION").read_text("utf-8").strip()
    git = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%h"],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    source = f", made from commit {git.stdout.strip()}" if git.stdout.strip() else ""
    return (from_top(text) + f"\nVersion {version}{source}. [What is new](CHANGELOG.md), "
            "[when something goes wrong](troubleshooting.md), "
            "[build it from source](install.md).\n\n")


def man_page(text: str) -> str:
    """A man page under one heading, the name of the program."""
    name = re.search(r"^# NAME\n+(.*?) - ", text, re.MULTILINE)[1]
    body = text.split("\n", 1)[1] if text.startswith("%") else text
    fenced = re.split(r"(^```.*?^```$)", body, flags=re.MULTILINE | re.DOTALL)
    fenced[::2] = [re.sub(r"^#", "##", part, flags=re.MULTILINE)
                   for part in fenced[::2]]
    return f"# {name}\n" + "".join(fenced)


def navigation(index: str) -> str:
    """Hidden lists of pages, one for each second heading of the index."""
    text = ""
    for part in index.split("\n## ")[1:]:
        heading = part.split("\n", 1)[0].split(":")[0]
        pages: List[str] = []
        for _, target, _ in LINK.findall(part):
            if target.endswith(".schema.json"):
                name = Path(target).name.replace(".schema.json", "")
                pages.append(f"schema-{name}")
            elif target.endswith(".md"):
                pages.append(target.removeprefix("../")[:-3])
        pages += GENERATED.get(heading, [])
        text += ("\n```{toctree}\n:hidden:\n:caption: " + heading + "\n\n"
                 + "\n".join(pages) + "\n```\n")
    return text


def write_source(source: Path, llvm_bin: Path) -> None:
    """The pages that Sphinx reads."""
    shutil.copytree(ROOT / "docs", source, ignore=shutil.ignore_patterns("site"))
    fill_blocks(source)
    for name in TOP_PAGES:
        (source / name).write_text(from_top((ROOT / name).read_text("utf-8")), "utf-8")
    for path in source.rglob("*.md"):
        text = without_outside(path.read_text("utf-8"))
        text = re.sub(rf"\]\(\.\./({'|'.join(TOP_PAGES)})", r"](\1", text)
        path.write_text(man_page(text) if path.parent.name == "man" else text,
                        "utf-8")
    for name, text in all_pages(llvm_bin).items():
        (source / f"{name}.md").write_text(text, "utf-8")
    index = (source / "README.md").read_text("utf-8")
    (source / "README.md").unlink()
    # To what the schemas say, not to the files, which a browser would save.
    text = re.sub(r"\(schema/([\w-]+)\.schema\.json\)", r"(schema-\1.md)", index)
    text = re.sub(r"^# .*", "# Documentation", text)
    (source / "index.md").write_text(
        first_screen() + re.sub(r"^#", "##", text, flags=re.MULTILINE) + navigation(index),
        "utf-8")


def make_furo_whole(static: Path) -> None:
    """Debian's furo loads normalize.css from a web server, and its script imports
    another one, which browsers allow neither in a plain script nor from the disk:
    both are put into the file that asks for them. Its colours for the dark are
    without the rule for browsers that ask for them, which code blocks have."""
    style = static / "styles/furo.css"
    text = style.read_text("utf-8")
    asked = re.search(r"@import url\((/javascript/[^)]*)\);", text)
    if asked:
        file = Path("/usr/share") / asked[1].lstrip("/")
        basics = file.read_text("utf-8") if file.exists() else ""
        text = text.replace(asked[0], basics)
    dark = re.search(r'body\[data-theme="?dark"?\]\s*(\{[^}]*\})', text)
    if dark and "prefers-color-scheme" not in text:
        # Not "not print and ...", which is all but a dark print.
        text += ("@media screen and (prefers-color-scheme: dark) {\n"
                 f'body:not([data-theme="light"]) {dark[1]}\n}}\n')
    style.write_text(text, "utf-8")
    script = static / "scripts/furo.js"
    first, _, rest = script.read_text("utf-8").partition("\n")
    if first.startswith("import Gumshoe"):
        library = (static / "scripts/gumshoe-patched.js").read_text("utf-8")
        script.write_text(library + rest, "utf-8")


def let_names_break(page: Path) -> None:
    """A name in a table may go on in the next line after a mark in it, so its words
    stay whole. The first column has room for its names."""
    cells = re.split(r"(?<=</td>\n)(<td>.*?</td>)", page.read_text("utf-8"), flags=re.DOTALL)
    for at in range(1, len(cells), 2):
        words = re.split(r'(?<=<span class="pre">)([^<]+)', cells[at])
        words[1::2] = [re.sub(r"(?<=\w)[|:=,/_]+(?=\w)", r"\g<0><wbr>", word)
                       for word in words[1::2]]
        cells[at] = "".join(words)
    page.write_text("".join(cells), "utf-8")


def python_with_sphinx() -> str:
    """The Python at hand, or that of the system, which has Debian's packages."""
    for python in (sys.executable, "/usr/bin/python3"):
        done = subprocess.run([python, "-c", "import sphinx, myst_parser, furo"],
                              stderr=subprocess.DEVNULL)
        if done.returncode == 0:
            return python
    sys.exit("build_site.py: error: no Python has Sphinx, MyST and furo; install "
             "python3-sphinx, python3-myst-parser and furo")


def run_sphinx(output: Path) -> int:
    # One date for all builds: two builds give the same files.
    environment = dict(os.environ, SOURCE_DATE_EPOCH="0", LC_ALL="C.UTF-8")
    done = subprocess.run(
        [python_with_sphinx(), "-m", "sphinx", "-q", "-W", "--keep-going", "-n", "-b", "html",
         "-d", output / "doctrees", "-c", HERE, output / "source",
         output / "html"], env=environment)
    return done.returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--llvm-bin", type=Path, required=True,
                        help="folder of llvm-tblgen and llvm-config")
    options = parser.parse_args()
    shutil.rmtree(options.output, ignore_errors=True)
    options.output.mkdir(parents=True)
    write_source(options.output / "source", options.llvm_bin)
    status = run_sphinx(options.output)
    if status == 0:
        make_furo_whole(options.output / "html/_static")
        for page in (options.output / "html").rglob("*.html"):
            let_names_break(page)
    return status


if __name__ == "__main__":
    sys.exit(main())
