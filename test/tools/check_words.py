#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_words.py ROOT PATH...: whether comments and pages use plain constructions.

Counts in the comments of C, C++, CMake and Python, and in the prose of Markdown, per
10,000 words of each PATH (a folder or a page, relative to ROOT). Also the share of
sentences in Markdown with more than 35 words. Prints the worst places of each limit that
a PATH exceeds.
"""

import re
import sys
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Tuple


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


def places(root: Path) -> Iterator[Place]:
    paths = [root] if root.is_file() else sorted(p for p in root.rglob("*") if p.is_file())
    for path in paths:
        reader = (prose if path.suffix == ".md" else code_comments if path.suffix in CODE
                  else script_comments if path.suffix in SCRIPTS else None)
        if reader and "build" not in path.relative_to(root).parts:
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
    root = Path(arguments[0])
    wrong: Dict[str, None] = {}
    for name in arguments[1:]:
        found = list(places(root / name))
        if not found:
            wrong[f"{name}: has no words"] = None
        for what, hits in exceeded(root, found):
            wrong[f"{name}: {what}"] = None
            print(f"{name}: {what}")
            for hit in hits[:20]:
                print(f"  {hit[:140]}")
    print(f"{len(arguments) - 1} paths, {len(wrong)} limits exceeded")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
