#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_heads.py ROOT: checks that each code file begins with its purpose.

A head is the comment after the SPDX line. A .cpp needs none if the header of its name beside it has
one. `See NAME.h` in a head names an existing file. No comment is a line of decoration. A head that
contains "only file" is in the table ONLY, which proves it. And headers of lib and tools define each
type once: programs link several libraries, and a name with two meanings is undefined there (-Wodr
sees it if both are in one program, test/soak/one-definition).
"""

import re
import sys
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

from mpgtest.run import finish

# Heads that claim to be the only file that does something, and what no other has.
ONLY = {"ElfReader.h": r"#include <(libelf|gelf)\.h>"}
FOLDERS = ["lib", "tools", "passes", "runtime"]
SUFFIXES = {".cpp", ".h", ".c", ".S", ".td"}


def read_head(path: Path) -> str:
    """Without the SPDX line; empty if the file has no head."""
    lines: List[str] = []
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        if not line.startswith(("//", "/*", " *", "#")) or line.startswith("#include"):
            break
        lines.append(line.strip("/#* "))
    return " ".join(lines).strip()


def wrong_in(path: Path, names: set) -> Iterator[str]:
    head = read_head(path)
    header = path.with_suffix(".h")
    if not head and not (path.suffix == ".cpp" and header.exists() and read_head(header)):
        yield "has no head"
    for name in re.findall(r"\bSee (\w+\.(?:h|cpp))\b", head):
        if name not in names:
            yield f"sends to {name}, which is not there"
    if re.search(r"^//[-=*/]{9}", path.read_text(encoding="utf-8"), re.M):
        yield "has a line of decoration"


def false_claims(files: List[Path]) -> Iterator[str]:
    for path in files:
        if not re.search(r"\bonly file\b", read_head(path)):
            continue
        if path.name not in ONLY:
            yield f"{path.name}: claims to be the only file, which ONLY does not check"
            continue
        for other in files:
            if other.stem != path.stem and re.search(ONLY[path.name], other.read_text(
                    encoding="utf-8")):
                yield f"{path.name}: is not the only file, as {other.name} shows"


def types_in(text: str) -> Iterator[Tuple[str, str]]:
    """Namespace and name of each type that is defined at the outermost level."""
    space = ""
    for line in text.splitlines():
        if found := re.match(r"namespace ([\w:]+) \{$", line):
            space = found.group(1)
        if found := re.match(r"(?:class|struct|union|enum(?: class)?) (\w+)\b"
                             r"(?!::)[^;]*\{", line):
            yield space, found.group(1)


def defined_twice(root: Path, files: List[Path]) -> Iterator[str]:
    first: Dict[Tuple[str, str], Path] = {}
    for path in files:
        name = path.relative_to(root)
        if path.suffix != ".h" or name.parts[0] not in ("lib", "tools"):
            continue
        for key in types_in(path.read_text(encoding="utf-8")):
            if first.setdefault(key, name) != name:
                yield f"{name}: {key[1]} is another type in {first[key]}"


def main() -> int:
    root = Path(sys.argv[1])
    files = sorted(
        path
        for folder in FOLDERS
        for path in (root / folder).rglob("*")
        if path.suffix in SUFFIXES
    )
    names = {path.name for path in files}
    wrong = [f"{path.relative_to(root)}: {what}"
             for path in files for what in wrong_in(path, names)]
    return finish([*wrong, *defined_twice(root, files), *false_claims(files)],
                  f"{len(files)} files, {{}} wrong")


sys.exit(main())
