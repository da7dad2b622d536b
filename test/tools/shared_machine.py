# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""lit's shell tests, several at a time on one machine, and samples of them.

A test that requires `hugetlb`, or whose folder sets config.uses_pool, has a slot
of the pool of large pages; one with a line `# Needs the whole pool.`, or whose
folder sets config.needs_whole_pool, has all of it (pool.py).

config.samples is a list of (PATTERN, N): of the suite's tests with a matching path, one in N runs,
others with each seed; the rest is reported as unsupported, with the seed. A preset may have a
larger N for all (MPG_TEST_ONE_IN). `--param one_in=N` decides alone, and so does the whole test run
(MPG_TEST_ALL), which runs all.

config.needs: what all tests of a folder require, each as in REQUIRES: lit says which is missing.

A test that names files in %t finds it an empty folder, which goes unless the test fails.

Each test's cost is written to FOLDER/seconds/lit-SUITE, a line a test: wall time without the wait
for the pool, processor time of all its processes, and its name, for test/tools/summary.py.
"""

import contextlib
import fnmatch
import os
import re
import resource
import shutil
import subprocess
import time

import lit.formats
import lit.Test
import lit.TestRunner

import pool


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class SharedMachineTest(lit.formats.ShTest):
    def __init__(self, source: str, build: str, exec_root: str, seed: int, least: int,
                 exact: int) -> None:
        super().__init__(execute_external=False)
        self.source = source
        self.exec_root = exec_root
        self.results = os.path.join(build, "test-results")
        self.seed = seed
        self.least = least
        self.exact = exact

    def execute(self, test, lit_config):
        # lit has followed the link of a clone whose name is not one word (one_word.py).
        test.suite.source_root = os.path.join(self.source, "test")
        test.suite.exec_root = self.exec_root
        test.requires = list(test.config.needs)
        if not self._is_chosen(test):
            # As lit reports a missing feature: its XML has no other field.
            test.requires = [f"the-sample-of-seed-{self.seed}"]
            return lit.Test.Result(lit.Test.UNSUPPORTED)
        with open(test.getSourcePath(), encoding="utf-8", errors="replace") as file:
            text = file.read()
        alone = getattr(test.config, "needs_whole_pool", False) or re.search(
            r"^\W*Needs the whole pool\.$", text, re.MULTILINE)
        uses = getattr(test.config, "uses_pool", False) or re.search(
            r"REQUIRES:.*\bhugetlb\b", text)
        folder = lit.TestRunner.getTempPaths(test)[1] + ".tmp"
        has_folder = "%t/" in text or "cd %t" in text
        if has_folder:
            subprocess.run(["rm", "-rf", folder], check=True)
            os.makedirs(folder)
        with pool.share(bool(alone)) if alone or uses else contextlib.nullcontext():
            result = self._measured(test, lit_config)
        if has_folder and not result.code.isFailure:
            shutil.rmtree(folder, ignore_errors=True)
        return result

    def _is_chosen(self, test) -> bool:
        rest = list(test.path_in_suite[1:])
        path = "/".join(rest)
        pattern, one_in = next(
            sample for sample in test.config.samples + [("*", 1)] if fnmatch.fnmatch(path, sample[0]))
        one_in = self.exact or max(one_in, self.least)
        folder = os.path.dirname(test.getSourcePath())
        alike = sorted(name for name in os.listdir(folder)
                       if fnmatch.fnmatch("/".join(rest[:-1] + [name]), pattern))
        # A preset has each third day: it would see the same tests for ever.
        assert self.exact or one_in == 1 or one_in % 3, f"{pattern}: one in {one_in}"
        return (alike.index(rest[-1]) + self.seed) % one_in == 0

    def _measured(self, test, lit_config):
        # A worker of lit runs one test at a time, so its children are the test's.
        processor, started = _processor_seconds(), time.monotonic()
        result = super().execute(test, lit_config)
        wall = time.monotonic() - started
        processor = _processor_seconds() - processor
        folder = os.path.join(self.results, "seconds")
        os.makedirs(folder, exist_ok=True)
        file_name = os.path.join(folder, f"lit-{test.path_in_suite[0]}")
        with open(file_name, "a", encoding="utf-8") as file:
            name = "/".join(test.path_in_suite)
            file.write(f"{wall:.2f} {processor:.2f} {name}\n")
        return result
