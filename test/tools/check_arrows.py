#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which folder includes which: the code, CMake and docs/arrows.txt agree.

Reads the #include lines of lib, tools, passes and runtime/src. A folder may
include those above it in docs/arrows.txt, which names what it does include; where the folder is a library or a program of
CMake, so does its NEEDS. No folder of the core includes one of the lab, nor a header
that is the lab's (cmake/Lab.cmake). A function of namespace mpg is declared in the folder that
defines it: else who includes the declaration needs a folder that no line names.
Prints one line for each difference; status 1 if there
is one. --print writes the list as it should be.
"""

import re
import sys
from pathlib import Path
from typing import Dict, List, Set, Tuple

from mpgtest.options import parse
from mpgtest.run import finish

# Folders of sources, and where their #include lines begin.
TREES = {"lib": ["lib"], "tools": ["lib", "tools"], "passes": ["passes"],
         "runtime/src": ["runtime/src"]}
INCLUDE = re.compile(r'^#\s*include "([^"]+)"', re.MULTILINE)
# A library names its folder, a program's has the name of the program.
TARGET = re.compile(r"^ *mpg_add_(?:tool\((\S+)|library\((\S+) +(\S+))\s+"
                    r"(?:NEEDS\s+([^)]*?)\s+)?(?:APART[^\n]*\n\s*)?SOURCES\b",
                    re.MULTILINE)
# The memory model has no LLVM, so it is declared without NEEDS.
PLAIN_LIBRARY = re.compile(r"^add_library\((\S+)", re.MULTILINE)
COMMENT = re.compile(r"//.*")
CALL = re.compile(r"\b(\w+)\(")
# The first malloc may come before libmpg's constructor: the heap calls start. The lab
# defines what the core's pipeline calls.
HOOKS = {"decideHeap", "addParallelRemarks", "addAccessRecorder"}
LAB_LIST = re.compile(r"set\(MPG_LAB_(FOLDERS|HEADERS)\s+([^)]*)\)")
DEFINITION = re.compile(r"^\w[^\n;=(]*?\bmpg::(?:\w+::)?(\w+)\(", re.MULTILINE)

Arrows = Dict[str, Set[str]]


class Lab:
    """What CMake says is part of the lab; all else is the core."""

    def __init__(self, root: Path) -> None:
        found = dict(LAB_LIST.findall((root / "cmake/Lab.cmake").read_text()))
        self.folders = tuple(found["FOLDERS"].split())
        self.headers = {f"mpg/{name}" for name in found["HEADERS"].split()}

    def has(self, folder: str) -> bool:
        return any(f"{folder}/".startswith(f"{lab}/") for lab in self.folders)


def read_arrows(root: Path) -> Arrows:
    """The files of other folders that each folder includes."""
    arrows: Arrows = {}
    for tree, starts in TREES.items():
        for path in sorted((root / tree).rglob("*")):
            if path.suffix not in (".h", ".cpp"):
                continue
            folder = str(path.parent.relative_to(root))
            found = arrows.setdefault(folder, set())
            for name in INCLUDE.findall(path.read_text(errors="replace")):
                for start in [path.parent, *(root / start for start in starts)]:
                    if (start / name).exists():
                        found.add(str((start / name).parent.relative_to(root)))
                        break
            found.discard(folder)
    return arrows


def read_needs(root: Path) -> Tuple[Arrows, Set[str]]:
    """The same as CMake declares it, for folders that are a target; and which of them are
    libraries: a program may link one without including any of it."""
    folders, needs, libraries = {}, {}, set()
    for path in [*root.glob("lib/**/CMakeLists.txt"), *root.glob("tools/**/CMakeLists.txt")]:
        here = path.parent.relative_to(root)
        rules = path.read_text()
        folders.update((name, str(here)) for name in PLAIN_LIBRARY.findall(rules))
        for tool, library, place, text in TARGET.findall(rules):
            folder = str(here / (tool or place))
            needs[folder] = text.split()
            if library:
                folders[library] = folder
                libraries.add(folder)
    return {folder: {folders.get(name, name) for name in names}
            for folder, names in needs.items()}, libraries


def strays(root: Path) -> List[str]:
    """Functions that headers of other folders declare, and none of their own."""
    declared: Dict[str, Set[str]] = {}
    defined = []
    for tree in TREES:
        for path in sorted((root / tree).rglob("*")):
            folder = str(path.parent.relative_to(root))
            if path.suffix == ".h":
                for name in CALL.findall(COMMENT.sub("", path.read_text())):
                    declared.setdefault(name, set()).add(folder)
            elif path.suffix == ".cpp":
                defined += [(path.relative_to(root), folder, name)
                            for name in DEFINITION.findall(path.read_text())]
    return [f"{path} defines {name}, which only {', '.join(sorted(places))} declares"
            for path, folder, name in defined
            if (places := declared.get(name)) and folder not in places
            and name not in HOOKS]


def short(folder: str) -> str:
    for tree in TREES:
        if folder.startswith(tree + "/"):
            return folder[len(tree) + 1:]
    return folder


def in_order(arrows: Arrows, lab: Lab) -> List[str]:
    """From the bottom up, the core before the lab, tree by tree; what is part of a ring
    comes last."""
    done: List[str] = []
    left = sorted(arrows, key=lambda folder: (
        lab.has(folder), [folder.startswith(tree) for tree in TREES].index(True), folder))
    while left:
        ready = [folder for folder in left if arrows[folder] <= set(done)] or left
        done.append(ready[0])
        left.remove(ready[0])
    return done


def make_list(arrows: Arrows, lab: Lab) -> str:
    order = in_order(arrows, lab)
    width = max(map(len, order)) + 2
    lines = []
    for folder in order:
        if lab.has(folder) and "" not in lines:
            lines += ["", "The lab:"]
        names = [short(other) for other in order if other in arrows[folder]]
        lines.append((folder.ljust(width) + ", ".join(names)).rstrip())
    return "\n".join(lines) + "\n"


def into_the_lab(root: Path, arrows: Arrows, lab: Lab) -> List[str]:
    """Includes of the lab by the core."""
    found = []
    core = [folder for folder in sorted(arrows) if not lab.has(folder)]
    for folder in core:
        found += [f"{folder} is of the core and includes {other}, which is of the lab"
                  for other in sorted(arrows[folder]) if lab.has(other)]
        for path in sorted((root / folder).glob("*.*")):
            if path.suffix in (".h", ".cpp"):
                found += [f"{path.relative_to(root)} is of the core and includes {name}, "
                          "which is of the lab"
                          for name in INCLUDE.findall(path.read_text(errors="replace"))
                          if name in lab.headers]
    return found


def differences(root: Path, arrows: Arrows, lab: Lab) -> List[str]:
    found = into_the_lab(root, arrows, lab)
    order = in_order(arrows, lab)
    for number, folder in enumerate(order):
        for other in sorted(arrows[folder] - set(order[:number])):
            found.append(f"{folder} includes {other}, which includes it: a ring")
    declared, libraries = read_needs(root)
    for folder, needs in sorted(declared.items()):
        # The command lines of the programs are in tools itself.
        actual = arrows.get(folder, set()) - {"tools"}
        for other in sorted(actual - needs):
            found.append(f"{folder} includes {other}, which is not in its NEEDS")
        for other in sorted(needs - actual) if folder in libraries else []:
            found.append(f"{folder} NEEDS {other} and includes nothing of it")
    found += strays(root)
    if (root / "docs/arrows.txt").read_text() != make_list(arrows, lab):
        found.append("docs/arrows.txt: is not what --print writes")
    return found


def main() -> int:
    options = parse(__doc__, root=Path(__file__).resolve().parents[2], print=False)
    arrows = read_arrows(options.root)
    lab = Lab(options.root)
    if options.print:
        print(make_list(arrows, lab), end="")
        return 0
    found = differences(options.root, arrows, lab)
    count = sum(map(len, arrows.values()))
    return finish(found, f"{len(arrows)} folders, {count} arrows, {{}} wrong", arrows)


sys.exit(main())
