# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared by the long runs: options, what they need, work folder, counts.

A run ends with status 0, 1 if something differs, 2 if it could not be found out.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import shutil
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Iterable, Iterator, Optional

REPO = Path(__file__).resolve().parents[3]
SHOWN = 20  # faults printed for each case
MODE = "the option first-touch: on, remark, off or parallel-init"
LLD = "linker of the compiler's LLVM, for -fuse-ld"
# Options that several runs share: for argparse, and the text of --help.
OPTIONS = {
    "seed": ({"type": int, "default": 1, "metavar": "N"}, "the first seed"),
    "seeds": ({"type": int, "default": 1, "metavar": "K"}, "how many seeds from there"),
    "count": ({"type": int, "default": 0, "metavar": "M"}, "the first M (0: all)"),
    "only": ({"action": "append", "default": [], "metavar": "NAME"},
             "one of them; may be repeated"),
    "list": ({"action": "store_true"}, "print the names and end"),
    "mode": ({"default": "on", "metavar": "WORD"}, MODE),
    "plugin": ({"type": Path, "metavar": "PATH",
                "default": REPO / "build/lib/MpgPasses.so"}, "MpgPasses.so"),
    "library": ({"type": Path, "metavar": "PATH",
                 "default": REPO / "build/lib/libmpgrt.so"}, "libmpgrt.so"),
    "clang": ({"default": "clang-22", "metavar": "PATH"}, ""),
    "flang": ({"default": "flang-22", "metavar": "PATH"}, ""),
    "lld": ({"default": "lld", "metavar": "NAME"}, LLD),
    "link-flag": ({"action": "append", "default": [], "metavar": "FLAG"},
                  "as -L, where libomp is elsewhere"),
    "work": ({"type": Path, "metavar": "DIR"},
             "keep sources (used again) and builds here"),
    "xunit": ({"type": Path, "metavar": "FILE"}, "write the results as XML"),
}


def name() -> str:
    return os.path.basename(sys.argv[0])


class Parser(argparse.ArgumentParser):
    """Options that runs share, by name, beside those of one run."""

    def __init__(self, doc: Optional[str], *names: str) -> None:
        super().__init__(description=(doc or "").split("\n\n")[0])
        for option in names:
            self.share(option)

    def share(self, option: str, about: str = "", **changed: object) -> None:
        settings, text = OPTIONS[option]
        self.add_argument(f"--{option}", help=about or text or None, **{**settings, **changed})


def need(tools: Iterable[object], files: Iterable[Path], remedy: str) -> None:
    """Ends the run with status 2 if one of them is missing."""
    missing = [tool for tool in map(str, tools) if not shutil.which(tool)]
    missing += [str(path) for path in files if not path.is_file()]
    if missing:
        print(f"{name()}: error: no {missing[0]}, nothing was tested; {remedy}", file=sys.stderr)
        sys.exit(2)


@contextlib.contextmanager
def work_folder(options: argparse.Namespace) -> Iterator[Path]:
    """options.work, created if needed; a new one is removed at the end of the run."""
    with tempfile.TemporaryDirectory(prefix=f"{name()}-") as scratch:
        options.work = (options.work or Path(scratch)).resolve()
        options.work.mkdir(parents=True, exist_ok=True)
        yield options.work


@dataclasses.dataclass
class Case:
    """One line of the result files: no faults is a pass."""

    name: str
    faults: list[str]
    seconds: float = 0.0


def count_failed(cases: list[Case]) -> int:
    return sum(1 for case in cases if case.faults)


def print_faults(case: Case) -> None:
    more = len(case.faults) - SHOWN
    for fault in case.faults[:SHOWN] + ([f"and {more} more"] if more > 0 else []):
        print(f"{case.name}: NO: {fault}", flush=True)


def finish(cases: list[Case], options: argparse.Namespace, text: str) -> int:
    """Prints the last line, writes --xunit; the status."""
    print(f"{name()}: {text}")
    if options.xunit:
        write_xunit(options.xunit, name(), cases)
    return 1 if count_failed(cases) else 0


def write_xunit(path: Path, suite_name: str, cases: list[Case]) -> None:
    suite = ElementTree.Element("testsuite", name=suite_name, tests=str(len(cases)))
    for case in cases:
        entry = ElementTree.SubElement(
            suite, "testcase", classname=suite_name, name=case.name,
            time=f"{case.seconds:.1f}")
        if case.faults:
            failure = ElementTree.SubElement(entry, "failure", message=case.faults[0])
            failure.text = "\n".join(case.faults)
    path.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(suite).write(path, encoding="utf-8")
