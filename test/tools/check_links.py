#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_links.py ROOT: checks that the index has every page of ROOT/docs and links resolve.

Each page below ROOT/docs and each schema is linked exactly once in docs/README.md, on a line with
more than its name. In all Markdown files of ROOT a link to a file leads to one, and one with an
anchor to a heading; so does the name of a file below docs/ in code quotes. Ignores web addresses.
Prints what is wrong, then counts; status 1 if anything is.
"""

import re
import sys
from pathlib import Path
from typing import Iterator, List, Set, Tuple

from mpgtest.run import finish

LINK = re.compile(r"\[[^][]*\]\(([^)\s]+)\)")
SPAN = re.compile(r"(`+)(?:(?!\1).)+?\1", re.DOTALL)
NAMED = re.compile(r"`(docs/[\w./-]+\.(?:md|json))`")


def find_pages(root: Path) -> List[Path]:
    """All Markdown files but those of builds and of test inputs."""
    tops = ["docs", "recipes", "linker-scripts", "tools"]
    found = [page for page in root.glob("*.md")]
    for top in tops:
        found += (root / top).rglob("*.md")
    return sorted(found)


def without_fences(text: str) -> str:
    """The text with the lines of fenced code made empty: line numbers stay."""
    fence, lines = None, []
    for line in text.split("\n"):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark and fence is None:
            fence, line = mark[1], ""
        elif fence is not None:
            fence = None if line.strip() == fence else fence
            line = ""
        lines.append(line)
    return "\n".join(lines)


def find_anchors(text: str) -> Set[str]:
    """As GitHub makes them of headings; one that comes again gets a number."""
    found: Set[str] = set()
    for heading in re.findall(r"^#+ +(.*?) *#*$", text, re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        name, count = slug, 0
        while name in found:
            count += 1
            name = f"{slug}-{count}"
        found.add(name)
    return found


def find_links(text: str) -> Iterator[Tuple[int, str]]:
    """Line and target of each link outside of code quotes."""
    plain = SPAN.sub(lambda span: re.sub(r"[^\n]", "x", span[0]), text)
    for match in LINK.finditer(plain):
        yield plain.count("\n", 0, match.start()) + 1, match[1]


def wrong_link(root: Path, page: Path, target: str) -> str:
    name, _, anchor = target.partition("#")
    path = (page.parent / name).resolve() if name else page.resolve()
    if not path.exists():
        return "no such file"
    if root.resolve() not in (path, *path.parents):
        return "leads out of the repository"
    if anchor and path.suffix == ".md":
        text = without_fences(path.read_text("utf-8"))
        if anchor not in find_anchors(text):
            return "no such heading"
    return ""


def check_links(root: Path) -> Tuple[int, List[str]]:
    count, wrong = 0, []
    for page in find_pages(root):
        text = without_fences(page.read_text("utf-8"))
        where = page.relative_to(root)
        for line, target in find_links(text):
            if re.match(r"[a-z]+:", target):
                continue
            count += 1
            why = wrong_link(root, page, target)
            if why:
                wrong.append(f"{where}:{line}: {target}: {why}")
        for match in NAMED.finditer(text):
            if not (root / match[1]).exists():
                line = text.count("\n", 0, match.start()) + 1
                wrong.append(f"{where}:{line}: {match[1]}: no such file")
    return count, wrong


def check_index(root: Path) -> Tuple[int, List[str]]:
    docs = root / "docs"
    index = docs / "README.md"
    pages = [page for kind in ("*.md", "*.schema.json")
             for page in docs.rglob(kind) if page != index]
    lines = index.read_text("utf-8").split("\n")
    targets = [target for _, target in find_links("\n".join(lines))]
    wrong = []
    for page in sorted(pages):
        name = str(page.relative_to(docs))
        times = targets.count(name)
        if times != 1:
            wrong.append(f"docs/README.md: {name} is linked {times} times, not once")
            continue
        line = next(line for line in lines if f"({name})" in line)
        if len(LINK.sub("", line).split()) < 5:
            wrong.append(f"docs/README.md: {name} without a sentence")
    return len(pages), wrong


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = Path(sys.argv[1])
    pages, missing = check_index(root)
    links, dead = check_links(root)
    return finish(missing + dead, f"{pages} pages, {links} links, {{}} wrong")


sys.exit(main())
