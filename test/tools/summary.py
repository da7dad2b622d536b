#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds up the results of all tests of one or more build folders.

Reads BUILD_DIR/test-results/*.xml as lit (--xunit-xml-output), GoogleTest
(--gtest_output=xml) and ctest (--output-junit) write them, prints a table with
one line per suite, every failed test, every reason for a skip, and as the very
last line "N passed, N failed, N skipped". The seconds of a suite are those of
its whole run; of lit's suites the processor time of all tests is known too
(test/tools/shared_machine.py).

A file ctest.xml holds one entry per ctest test. An entry whose test wrote NAME.xml itself is not
counted again, except when the entry failed although NAME.xml has no failure: the runner itself
broke, and that must be visible. --step NAME=STATUS=SECONDS adds a step of the caller (a build, say)
that is a test too.

Status 0: each folder has results, something passed, nothing failed; 1: not so;
2: wrong usage.
"""

from __future__ import annotations

import collections
import dataclasses
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

from mpgtest.options import parse


@dataclasses.dataclass
class Suite:
    """Results of one suite; skipped counts tests by the reason given."""

    name: str
    seconds: float = 0
    processor_seconds: float | None = None
    passed: int = 0
    failed: list[str] = dataclasses.field(default_factory=list)
    skipped: collections.Counter = dataclasses.field(default_factory=collections.Counter)

    def add_case(self, case: ElementTree.Element) -> None:
        skip = case.find("skipped")
        disabled = case.get("status") in ("notrun", "disabled")
        if case.find("failure") is not None or case.find("error") is not None:
            self.failed.append(full_name(case))
        elif skip is not None or disabled:
            reason = "disabled" if skip is None else skip.get("message", "")
            self.skipped[" ".join(reason.split()) or "no reason given"] += 1
        else:
            self.passed += 1

    def skipped_total(self) -> int:
        return sum(self.skipped.values())

    def total(self) -> int:
        return self.passed + len(self.failed) + self.skipped_total()


def full_name(case: ElementTree.Element) -> str:
    group, name = case.get("classname", ""), case.get("name", "?")
    return f"{group}: {name}" if group not in ("", name) else name


def read_cases(path: pathlib.Path) -> list[ElementTree.Element] | None:
    """All test cases of one file, or None if it is not complete XML."""
    try:
        return list(ElementTree.parse(path).getroot().iter("testcase"))
    except (ElementTree.ParseError, OSError):
        return None


def read_file(path: pathlib.Path, suite_name: str) -> Suite:
    suite = Suite(suite_name)
    cases = read_cases(path)
    if cases is None:
        suite.failed.append(f"{path}: not complete; its tests stopped early")
    for case in cases or []:
        suite.add_case(case)
    return suite


def read_folder(folder: pathlib.Path) -> list[Suite]:
    """One suite per file of the folder; ctest's own file is merged last."""
    label = folder.name
    suites = {}
    for path in sorted((folder / "test-results").glob("*.xml")):
        if path.name != "ctest.xml":
            suites[path.stem] = read_file(path, f"{label}: {path.stem}")
    ctest_path = folder / "test-results" / "ctest.xml"
    if ctest_path.exists():
        suites["ctest"] = merge_ctest(ctest_path, label, suites)
    for path in (folder / "test-results" / "seconds").glob("*"):
        if path.name in suites:
            suites[path.name].processor_seconds = processor_seconds(path)
    return [suite for suite in suites.values() if suite.total() > 0]


def processor_seconds(path: pathlib.Path) -> float:
    """Sum of the second words of the lines."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return sum(float(line.split()[1]) for line in lines)


def merge_ctest(path: pathlib.Path, label: str, own: dict[str, Suite]) -> Suite:
    suite = Suite(f"{label}: others")
    cases = read_cases(path)
    if cases is None:
        suite.failed.append(f"{path}: not complete; ctest stopped early")
    for case in cases or []:
        single = Suite("")
        single.add_case(case)
        name = case.get("name", "?")
        seconds = float(case.get("time") or 0)
        if name not in own:
            suite.add_case(case)
            suite.seconds += seconds
            continue
        own[name].seconds = seconds
        if single.failed and not own[name].failed:
            own[name].failed.append(f"{name}: failed outside of its tests")
    return suite


def step_suite(steps: list[str]) -> Suite:
    suite = Suite("steps")
    for step in steps:
        name, status, seconds = step.rsplit("=", 2)
        suite.seconds += float(seconds)
        if status == "0":
            suite.passed += 1
        else:
            suite.failed.append(f"{name} (status {status})")
    return suite


def print_table(suites: list[Suite]) -> None:
    width = max([len(suite.name) for suite in suites] + [len("suite")])
    print(f"{'suite':{width}}  passed  failed  skipped  seconds  of processors")
    for suite in suites:
        counts = (suite.passed, len(suite.failed), suite.skipped_total())
        known = suite.processor_seconds
        print(f"{suite.name:{width}}  %6d  %6d  %7d" % counts +
              f"  {suite.seconds:7.0f}" +
              (f"  {known:13.0f}" if known is not None else ""))
    for suite in suites:
        for name in suite.failed:
            print(f"FAILED  {suite.name}: {name}")
        for reason, count in sorted(suite.skipped.items()):
            print(f"skipped {suite.name}: {count} x {reason}")


def main() -> int:
    arguments = parse(__doc__, "folders*", step=[])
    suites = [step_suite(arguments.step)] if arguments.step else []
    for folder in map(pathlib.Path, arguments.folders):
        found = read_folder(folder.resolve())
        if not found:
            found = [Suite(f"{folder.name}", failed=["no test results"])]
        suites += found

    print_table(suites)
    passed = sum(suite.passed for suite in suites)
    failed = sum(len(suite.failed) for suite in suites)
    skipped = sum(suite.skipped_total() for suite in suites)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


sys.exit(main())
