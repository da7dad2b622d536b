# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the long runs report: cases with faults, as text and as XML."""

import dataclasses
import pathlib
import xml.etree.ElementTree as ElementTree
from typing import List

SHOWN = 20  # faults printed for each case


@dataclasses.dataclass
class Case:
    """One line of the result files: no faults is a pass."""

    name: str
    faults: List[str]
    seconds: float = 0.0


def shortened(faults: List[str]) -> List[str]:
    more = len(faults) - SHOWN
    return faults[:SHOWN] + ([f"and {more} more"] if more > 0 else [])


def print_faults(case: Case) -> None:
    for fault in shortened(case.faults):
        print(f"{case.name}: NO: {fault}", flush=True)


def write_xunit(path: pathlib.Path, suite_name: str,
                cases: List[Case]) -> None:
    suite = ElementTree.Element("testsuite", name=suite_name,
                                tests=str(len(cases)))
    for case in cases:
        entry = ElementTree.SubElement(
            suite, "testcase", classname=suite_name, name=case.name,
            time=f"{case.seconds:.1f}")
        if case.faults:
            text = "\n".join(case.faults)
            ElementTree.SubElement(entry, "failure",
                                   message=case.faults[0]).text = text
    path.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(suite).write(path, encoding="utf-8")
