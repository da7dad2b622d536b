# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ReFrame checks that accept a node for programs on large pages: the pool, the pages under a
program's memory, its report, bandwidth by page size, and the heap's arenas.

The programs of mpgtools must be in PATH on the nodes (or: -S modules=mpgtools). Each check leaves
its figures in node.json of its output folder, which `mpginfo --fold` compares over nodes.
docs/recipes.md has the commands.
"""

import json
import os

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import (performance_function, parameter, run_after, run_before,
                                   sanity_function, variable)

MIB = 1 << 20


class Check(rfm.RunOnlyRegressionTest):
    """A program of mpgtools that writes node.json."""

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    output = "node.json"
    tags = {"mpgtools"}

    @run_before("run")
    def keep(self):
        self.keep_files = [self.output]

    def data(self):
        with open(os.path.join(self.stagedir, self.output), encoding="utf-8") as file:
            return json.load(file)


@rfm.simple_test
class MpgPool(Check):
    """The pool, or transparent pages, give a program `need` on large pages."""

    need = variable(str, value="1G")
    executable = "mpginfo"

    @run_before("run")
    def ask(self):
        self.executable_opts = [f"--need={self.need}", "--json", ">", self.output]

    @sanity_function
    def is_enough(self):
        verdict = self.data()["verdict"]
        return sn.assert_true(verdict["good"], verdict["headline"])

    @performance_function("pages")
    def available(self):
        return self.data()["verdict"]["available_pages"]


class OfProgram(Check):
    """A program with 256 MiB on its heap, under mpgrun."""

    mode = variable(str, value="auto")
    executable = "mpgrun"

    @run_before("run")
    def start(self):
        self.executable_opts = [
            "--children", f"--mode={self.mode}", "--report", f"--json={self.output}", "--",
            "python3", "-c", "'block = bytearray(256 << 20)'"]

    def memory(self):
        """Bytes in use at the peak, and of these on large pages."""
        regions = [one for one in self.data()["regions"] if one["region"] in ("heap", "mmap")]
        largest = max(regions, key=lambda one: one["peak_bytes"])
        return largest["peak_bytes"], largest["peak_huge_bytes"]


@rfm.simple_test
class MpgReport(OfProgram):
    """libmpg is at work in a program, and its report can be read."""

    @sanity_function
    def is_report(self):
        report = self.data()
        return sn.all([sn.assert_eq(report["schema"], "mpgreport-1"),
                       sn.assert_eq(report["status"], 0),
                       sn.assert_true(report["libmpg"], "libmpg was not at work")])


@rfm.simple_test
class MpgPlacement(OfProgram):
    """At least 90 % of a program's memory is on large pages."""

    @sanity_function
    def is_large(self):
        used, large = self.memory()
        return sn.all([sn.assert_ge(used, 256 * MIB), sn.assert_ge(large, 0.9 * used)])

    @performance_function("%")
    def share(self):
        used, large = self.memory()
        return 100 * large / used


class OfBench(Check):
    """Points of mpgbench; each is a figure."""

    quick = variable(bool, value=False)
    repeat = variable(int, value=7)
    executable = "mpgbench"
    point = ""

    @run_before("run")
    def measure(self):
        self.executable_opts = ["run", *["--quick"] * self.quick, f"--repeat={self.repeat}",
                                f"--json={self.output}", self.point]

    def points(self):
        return [(experiment, point) for experiment in self.data()["experiments"]
                for point in experiment["points"]]

    @run_before("performance")
    def name_figures(self):
        self.perf_variables = {
            point["name"].replace("/", "_").replace("=", "_"): sn.make_performance_function(
                sn.defer(point["summary"]["median"]), experiment["unit"])
            for experiment, point in self.points() if not point["missing"]}


@rfm.simple_test
class MpgTriad(OfBench):
    """STREAM triad on pages of one size; the arrays are on these pages."""

    pages = parameter(["4K", "THP", "2M"])

    @run_after("init")
    def choose(self):
        self.point = f"triad/pages={self.pages}"

    @sanity_function
    def is_on_pages(self):
        key = {"THP": "thp_bytes", "2M": "hugetlb_bytes"}.get(self.pages, "normal_bytes")
        checks = []
        for _, point in self.points():
            checks.append(sn.assert_false(point["missing"], f"{point['name']}: {point['missing']}"))
            for sample in point["samples"]:
                backing = sample["backing"]
                checks.append(sn.assert_ge(backing[key], 0.9 * sum(backing.values())))
        return sn.all([sn.assert_true(checks, "no point"), *checks])


@rfm.simple_test
class MpgArena(OfBench):
    """What malloc and free cost by the settings of the arenas."""

    point = "arena"

    @sanity_function
    def is_measured(self):
        return sn.assert_true([point for _, point in self.points() if not point["missing"]],
                              "nothing was measured")
