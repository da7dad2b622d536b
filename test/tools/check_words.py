#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_words.py [ROOT PATH...]: whether comments and pages use plain constructions.

Counts in the comments of C, C++, CMake and Python, and in the prose of Markdown, per
10,000 words of each PATH (a folder or a page, relative to ROOT; all of PARTS unless
said). Also the share of sentences in Markdown with more than 35 words. In C and C++, the
identifiers that begin with least, most or a verb such as take, or end in Of: min and max,
get, find and compute are what engineers expect. Prints the worst places of each limit
that a PATH exceeds.
"""

import re
import sys
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Tuple


PARTS = ("lib tools cmake passes runtime test docs README.md CHANGELOG.md CONTRIBUTING.md "
         "RELEASING.md SECURITY.md").split()


class Rule(NamedTuple):
    name: str
    limit: float  # per 10,000 words
    pattern: str


RULES = [
    Rule("clause as a noun", 2, r"(?:^|(?<=[.:;?!] ))What [a-z][^.?]*(?![^.]*\?)"),
    # "is no longer" and its kind are plain English.
    Rule("'is no' for 'is not a'", 3.5,
         r"\b(?:is|are|was|were) no (?!longer|more\b|less|better|need|way|one|good)[a-z]+"),
    Rule("'is told', 'is said'", 0.5, r"\b(?:is|are|was|be) (?:told|said)\b"),
    Rule("'stands in' for 'is in'", 0.5,
         r"\b(?:stands?|standing) (?:in|at|there|beside|with|before|after|here|under"
         r"|where|as|apart)\b"),
    Rule("'passed over', 'put right'", 0.5,
         r"\b(?:passed over|looked through|put right|gone by|goes by)\b"),
]
NAME = re.compile(r"\b(?:(?:least|most)(?:[A-Z]\w*)?|[a-z]\w*Of"
                  r"|(?:take|give|look|tell|say|ask|put|come)(?:[A-Z]\w*|(?=\()))\b")
KNOWN_NAMES = {
    "takeError",  # of LLVM
    "beginOf",  # in the public <mpg/kernels_omp.hpp>
    "oneOf", "isOneOf", "anyOf",  # one of several; no function of an object
    "usersOf",  # whose users: a number, and no function
}
LONG_WORDS = 35
LONG_PERCENT = 4.0
CODE = {".cpp", ".h", ".hpp", ".c", ".def", ".inc", ".S"}
SCRIPTS = {".py", ".cmake", ".txt"}


class Place(NamedTuple):
    path: Path
    text: str


def code_comments(text: str) -> Iterator[str]:
    """Joined lines of each comment; an empty line ends a paragraph."""
    for block in re.findall(r"/\*+(.*?)\*/", text, re.S):
        yield " ".join(line.strip(" *") for line in block.splitlines())
    lines = [re.search(r"(?:^|\s)//[/!]?<? ?(.*)$", line) for line in text.splitlines()]
    yield from paragraphs([match.group(1) if match else "" for match in lines])


def names(root: Path, part: str) -> Iterator[str]:
    """Identifiers that NAME finds, with their file; not of programs that tests compile."""
    text = re.compile(r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
    for path in files(root / part):
        is_input = part == "test" and "unit" not in path.relative_to(root).parts
        if path.suffix in CODE and not is_input:
            code = text.sub(" ", path.read_text(encoding="utf-8", errors="replace"))
            for name in sorted(set(NAME.findall(code)) - KNOWN_NAMES):
                yield f"{path.relative_to(root)}: {name}"


def script_comments(text: str) -> Iterator[str]:
    yield from (" ".join(found.split()) for found in re.findall(r'"""(.*?)"""', text, re.S))
    lines = [re.match(r"\s*#+ ?(.*)$", line) for line in text.splitlines()]
    yield from paragraphs([match.group(1) if match else "" for match in lines])


def prose(text: str) -> Iterator[str]:
    """Without code, tables and headings; an item of a list is a paragraph."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    lines = ["" if re.match(r"\||#|<!--|    ", line) else line for line in text.splitlines()]
    yield from paragraphs(re.sub(r"^\s*(?:[-*]|\d+\.) ", "\0", line) for line in lines)


def paragraphs(lines) -> Iterator[str]:
    collected: List[str] = []
    for line in lines:
        if (not line.strip() or line.startswith("\0")) and collected:
            yield " ".join(collected)
            collected = []
        if line.strip("\0 "):
            collected.append(line.strip("\0 "))
    if collected:
        yield " ".join(collected)


def files(root: Path) -> List[Path]:
    paths = [root] if root.is_file() else sorted(p for p in root.rglob("*") if p.is_file())
    return [path for path in paths if "build" not in path.relative_to(root).parts]


def places(root: Path) -> Iterator[Place]:
    for path in files(root):
        reader = (prose if path.suffix == ".md" else code_comments if path.suffix in CODE
                  else script_comments if path.suffix in SCRIPTS else None)
        if reader:
            for text in reader(path.read_text(encoding="utf-8", errors="replace")):
                if "SPDX" not in text:
                    yield Place(path, text)


def words_in(text: str) -> int:
    return len(re.findall(r"[A-Za-z']+", text))


def exceeded(root: Path, found: List[Place]) -> Iterator[Tuple[str, List[str]]]:
    """Each limit that is exceeded, with the places that count for it."""
    words = sum(words_in(place.text) for place in found)
    for rule in RULES:
        hits = [f"{place.path.relative_to(root)}: {match.group()}" for place in found
                for match in re.finditer(rule.pattern, place.text)]
        rate = 1e4 * len(hits) / max(words, 1)
        if rate > rule.limit:
            yield f"{rule.name}: {rate:.1f} per 10,000 words, not {rule.limit:g}", hits
    sentences = [(place, sentence) for place in found if place.path.suffix == ".md"
                 for sentence in re.split(r"(?<=[.!?:])\s+", place.text)
                 if words_in(sentence) > 2]
    long = [f"{place.path.relative_to(root)}: {sentence}" for place, sentence in sentences
            if words_in(sentence) > LONG_WORDS]
    percent = 100 * len(long) / max(len(sentences), 1)
    if percent > LONG_PERCENT:
        yield f"long sentences: {percent:.1f} %, not {LONG_PERCENT:g}", long


def main(arguments: List[str]) -> int:
    arguments = arguments or [str(Path(__file__).resolve().parents[2]), *PARTS]
    root = Path(arguments[0])
    wrong: Dict[str, None] = {}
    for name in arguments[1:]:
        found = list(places(root / name))
        if not found:
            wrong[f"{name}: has no words"] = None
        odd = list(names(root, name))
        odd_names = [(f"identifiers: {len(odd)}, not 0", odd)] if odd else []
        for what, hits in [*exceeded(root, found), *odd_names]:
            wrong[f"{name}: {what}"] = None
            print(f"{name}: {what}")
            for hit in hits[:20]:
                print(f"  {hit[:140]}")
    print(f"{len(arguments) - 1} paths, {len(wrong)} limits exceeded")
    return 1 if wrong else 0


sys.exit(main(sys.argv[1:]))
