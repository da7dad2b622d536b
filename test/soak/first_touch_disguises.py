# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs with serial initialisation in disguise, and their repaired twins.

Each disguise is a difference: lines that begin with - are only in the wrong
program, lines that begin with + only in the repaired one. @words are chosen by
a seed: names, element type, size, values, operators, schedule clause. A line
that ends with the comment =KEY initialises the array KEY serially: a remark
has to point there. A program prints `array BYTES STEP` for each such array,
STEP being the bytes that one iteration of the parallel loop works on, and a
sum over its results. `=== NAME` begins the next file.

disguises/ has a file for each language. In it `%%% NAME` begins a disguise, with
`sched`, `chunk` and `threads` where mpg_first_touch needs them, and `%%% <NAME>` a part
that disguises name in their text.

The programs are written for this purpose: each hides the same mistake in a way
that real programs have. Sums are of small whole numbers, so they are exact in
any order.
"""

import dataclasses
import pathlib
import random
import re
import string
from typing import Dict, Iterator, List, Set

WORDS = ("alpha angle basin bound carbon cell column depth drift energy field "
         "flow flux force front gauge grain heat inner lattice level "
         "mass mesh mode moment noise orbit outer phase plate pressure probe "
         "pulse range rate ratio region ridge scale shape shift sigma slope "
         "source speed state stress strip table tensor theta tide torque track "
         "valve vector volume wave weight width").split()
NAMES = "a b c n m i j r s v p q f g h k S M".split()
C_TYPES = ["double", "float", "long"]
SUFFIXES = {"c": ".c", "c++": ".cpp", "fortran": ".f90"}

C_HEAD = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
"""
CXX_HEAD = """\
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>
"""


@dataclasses.dataclass
class Disguise:
    name: str
    language: str
    text: str
    sched: int = 0    # what mpg_first_touch has to be told
    chunk: int = 0
    threads: int = 0


@dataclasses.dataclass
class Source:
    """One file; lines with marks: number -> keys of arrays."""

    text: str
    marks: Dict[int, Set[str]]


class Text(string.Template):
    """@ begins a word: $ and % mean something to Fortran and to C."""

    delimiter = "@"


def words_for(chooser: random.Random, language: str) -> Dict[str, str]:
    names = chooser.sample(WORDS, len(NAMES))
    words = dict(zip(NAMES, names))
    rows, columns = chooser.randrange(900, 1500), chooser.randrange(1100, 1900)
    elements = chooser.randrange(1200000, 2400000)
    words.update(
        T=chooser.choice(C_TYPES),
        rows=str(rows), columns=str(columns), constant=str(elements),
        # A size that the compiler knows, or an unknown one.
        size=chooser.choice([f"{elements}",
                             f"argc > 7 ? 1000 : {elements}"]),
        # Not 0: LLVM turns malloc and zeros into a calloc, which touches nothing.
        value=chooser.choice(["2", "1", f"{words['i']} % 5"]),
        op=chooser.choice(["+= 3", "-= 1"]),
        fop=chooser.choice(["+ 3", "- 1"]),
        sched=chooser.choice(["", " schedule(static)"]),
        I=chooser.choice(["long", "size_t"]))
    if language == "fortran":
        words["value"] = chooser.choice(["2", "1"])
        words["r8"] = chooser.choice(["real(8)", "real(kind=8)", "double precision"])
    return words


def written(disguise: Disguise, seed: int, repaired: bool) -> Dict[str, Source]:
    """The files of the program; the same seed gives both twins one wording."""
    chooser = random.Random(f"{disguise.name} {seed}")
    words = words_for(chooser, disguise.language)
    suffix = SUFFIXES[disguise.language]
    texts: Dict[str, List[str]] = {}
    name = "main" + suffix
    for line in disguise.text.lstrip("\n").splitlines():
        if line.startswith("=== "):
            name = line[4:] + suffix
        elif not line.startswith("-" if repaired else "+"):
            shown = " " + line[1:] if line[:1] in "-+" else line
            texts.setdefault(name, []).append(
                shown[1:] if line[:2] in ("-#", "+#", "+!") else shown)
    head = {"c": C_HEAD, "c++": CXX_HEAD, "fortran": ""}[disguise.language]
    return {name: marked(head + Text("\n".join(lines) + "\n")
                         .substitute(words), repaired)
            for name, lines in texts.items()}


def marked(text: str, repaired: bool) -> Source:
    """Takes the marks out, so that no compiler sees where to look."""
    lines, marks = [], {}
    for number, line in enumerate(text.splitlines(), 1):
        found = re.search(r"\s*(//|!)=(\w+)$", line)
        if found:
            line = line[:found.start()]
            if not repaired:
                marks[number] = set(found[2])
        lines.append(line)
    return Source("\n".join(lines) + "\n", marks)


def read_disguises(language: str, suffix: str) -> Iterator[Disguise]:
    path = pathlib.Path(__file__).with_name("disguises") / f"{suffix[1:]}.txt"
    parts: Dict[str, str] = {}
    for section in path.read_text(encoding="utf-8").split("\n%%% ")[1:]:
        head, _, text = section.strip("\n").partition("\n")
        name, *expected = head.split()
        if name.startswith("<"):
            parts[name] = text
            continue
        for part, whole in parts.items():
            text = text.replace(part, whole)
        values = {key: int(value) for key, value in (word.split("=") for word in expected)}
        yield Disguise(name, language, text, **values)


def all_disguises() -> List[Disguise]:
    return [disguise for language, suffix in SUFFIXES.items()
            for disguise in read_disguises(language, suffix)]
