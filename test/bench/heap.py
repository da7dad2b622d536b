#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The heap of libmpg beside the C library's, jemalloc, mimalloc and tcmalloc.

  guide 7.3     256 blocks of 8 MiB, allocated and freed, twice
  guide 7.4     two threads allocate 20,480 blocks of 64 KiB each
  come and go   blocks of 16 KiB to 8 MiB, freed soon
  programs      small programs, each with one habit that is hard on allocators:
                test/bench/heap, the head of each file says which
  others        python3 that does nothing, clang with 1,000 lines of C++

All set-ups run in turn, in an order drawn anew for each round. A bar is judged
by the geometric mean of the ratios of a round's two runs, with its 95 % interval:
"reached" if the good end of the interval meets it and the mean is within 5 % of
it. Programs count from start to end, memory as heap_runs.py says. "Fastest"
means the least median of a peer in this very run; --peer adds a library to those
that are installed, for example a newer mimalloc.

Needs root (a hugetlb control group, a mounted hugetlbfs) and 1,600 free large
pages (--pages; small programs alone need fewer). --cpu judges by processor time: for a
machine that others use at the same time, since waiting for a lock then costs nothing,
not for results to quote.
"""

from __future__ import annotations

import argparse
import datetime
import math
import os
import re
import signal
import statistics
import sys
from typing import Callable

from heap_runs import PAGES_NEEDED, PEER, Bench, Run, Setup, check_needs, find_peers, middle_run
from heap_runs import our_setups, read_pool
from measuring import LIBRARY, machine, parse, refuse
from mpgaudit_speed import Estimate

PROGRAMS = [
    "smallChurn.c 1",
    "smallChurn.c 2",
    "producerConsumer.c",
    "producerConsumer.c many",
    "remoteFree.c",
    "serverThreads.c",
    "mixedSizes.c",
    "falseSharing.c active",
    "falseSharing.c passive",
    "reallocGrowth.c",
    "bigChurn.c",
    "leakAndExit.c",
    "treeBuilding.c",
    "stringBuilding.cpp",
]
BLOCKS, BLOCK_MIB, FRAME_MIB = 256, 8, 2
BAR_SECOND_MALLOC = 1000  # times faster: the guide has 1,033
BAR_FREE = 100  # the guide has 524 and 1,625
BAR_HUGETLB_PEER = 1.10
BAR_LOCK = 1.3
BAR_COME_AND_GO = 1.2
BAR_MEAN_GLIBC, BAR_MEAN_BEST, BAR_PROGRAM = 0.87, 1.05, 1.3
BAR_PEAK, PEAK_ROOM_MIB = 1.5, 4
BAR_PYTHON_MIB, BAR_CLANG = 16, 1.3

Results = dict[str, list[Run]]
Get = Callable[[Run], float]


class Report:
    """Prints bars and remembers whether all are reached."""

    def __init__(self, use_cpu: bool) -> None:
        self.clock = int(use_cpu)
        self.missed: list[str] = []

    def time(self, run: Run) -> float:
        return run.cpu_ms if self.clock else run.wall_ms

    def span(self, *names: str) -> Get:
        """The sum of times that a program printed."""
        return lambda run: sum(run.figures[name][self.clock] for name in names)

    def line(self, what: str, figure: str, reached: bool) -> None:
        print(f"  {what}: {figure}: {'reached' if reached else 'missed'}")
        if not reached:
            self.missed.append(what)

    def ratio(self, what: str, ours: list[float], theirs: list[float],
              bar: float) -> None:
        """At most `bar` times theirs."""
        found = estimate(ours, theirs)
        self.line(
            what,
            f"{found.mean:.3f}x (95 % {found.low:.3f} to {found.high:.3f}, rounds "
            f"{found.least:.3f} to {found.most:.3f}); bar at most {bar:.2f}x",
            found.verdict(bar) == "reached",
        )

    def faster(self, what: str, slow: list[float], fast: list[float],
               bar: float) -> None:
        """At least `bar` times as fast."""
        found = estimate(slow, fast)
        inverse = Estimate.of([b / a for a, b in zip(slow, fast)])
        self.line(
            what,
            f"{found.mean:.4g}x (95 % {found.low:.4g} to {found.high:.4g}, rounds "
            f"{found.least:.4g} to {found.most:.4g}); bar at least {bar:g}x",
            inverse.verdict(1 / bar) == "reached",
        )

    def check_max(self, what: str, figure: float, bar: float, unit: str) -> None:
        said = f"{figure:.1f} {unit}; bar at most {bar:.1f}"
        self.line(what, said, figure <= bar)


def estimate(ours: list[float], theirs: list[float]) -> Estimate:
    return Estimate.of([a / b for a, b in zip(ours, theirs)])


def figures(runs: list[Run], get: Get) -> list[float]:
    return [get(run) for run in runs]


def digits(number: float) -> str:
    """Three of them, and never an exponent for something large."""
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def cell(values: list[float]) -> str:
    """Median, and the least and the most."""
    low, middle, high = min(values), statistics.median(values), max(values)
    return " ".join((digits(middle), f"({digits(low)}..{digits(high)})"))


def fastest(results: Results, setups: list[Setup], get: Get, hugetlb: bool = False):
    """The name of the peer with the least median; None without peers."""
    names = [
        setup.name
        for setup in setups
        if setup.name in results
        and not setup.is_ours
        and (setup.is_hugetlb or not hugetlb)
    ]
    return min(names, key=lambda name: statistics.median(figures(results[name], get)), default=None)


def print_table(results: Results, failed: dict[str, str], columns: dict[str, Get]):
    print("\n| set-up | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for name, runs in results.items():
        cells = [cell(figures(runs, get)) for get in columns.values()]
        print(f"| {name} | " + " | ".join(cells) + " |")
    for name, why in failed.items():
        print(f"| {name} | no figure: {why} |")


# --- The tuning guide's work


def judge_blocks(report: Report, results: Results, setups: list[Setup]) -> None:
    if not {"mpg", "mpg FREE=2"} <= results.keys():
        return
    one, two = results["mpg"], results["mpg FREE=2"]
    for name, bar in (
        ("malloc2", BAR_SECOND_MALLOC), ("free1", BAR_FREE), ("free2", BAR_FREE)
    ):
        get = report.span(name)
        what = f"{name}, FREE=2 faster than FREE=1"
        report.faster(what, figures(one, get), figures(two, get), bar)
    get = report.span("malloc2")
    peer = fastest(results, setups, get)
    if peer:
        what = f"malloc2, FREE=2 against {peer}"
        report.ratio(what, figures(two, get), figures(results[peer], get), 1.0)


def judge_touched(report: Report, results: Results, setups: list[Setup]) -> None:
    get = report.span("malloc1", "touch1")
    peer = fastest(results, setups, get, hugetlb=True)
    for name in ("mpg", "mpg FREE=2"):
        if peer and name in results:
            report.ratio(f"malloc1 + touch1, {name} against {peer}", figures(results[name], get),
                         figures(results[peer], get), BAR_HUGETLB_PEER)


def judge_pool(report: Report, results: Results) -> None:
    asked = BLOCKS * BLOCK_MIB * 1.01
    for name, bar in (("mpg COLORING=0", asked), ("mpg", asked + BLOCKS * FRAME_MIB)):
        if name in results:
            used = max(run.figures["pool_mib"][0] for run in results[name])
            report.check_max(f"pool with the blocks there, {name}", used, bar, "MiB")


def measure_blocks(bench: Bench, report: Report, setups: list[Setup], rounds: int):
    for argument in ([], ["touched"]):
        print(f"\n## guide 7.3, {BLOCKS} x {BLOCK_MIB} MiB, {' '.join(argument) or 'untouched'}, ms")
        command = [bench.build("guideBlocks.c"), *argument]
        results, failed = bench.rounds(setups, command, rounds)
        names = ["malloc1", "touch1", "free1", "malloc2", "touch2", "free2"]
        columns: dict[str, Get] = {
            name: report.span(name)
            for name in names
            if argument or not name.startswith("touch")
        }
        columns["pool MiB"] = lambda run: run.figures["pool_mib"][0]
        print_table(results, failed, columns)
        if argument:
            judge_touched(report, results, setups)
        else:
            judge_blocks(report, results, setups)
        judge_pool(report, results)


def measure_parallel(bench: Bench, report: Report, setups: list[Setup], rounds: int):
    for mode in ("hold", "ends", "pair"):
        print(f"\n## guide 7.4, 2 threads x 20,480 x 64 KiB, {mode}, ms")
        command = [bench.build("guideParallel.c"), mode]
        results, failed = bench.rounds(setups, command, rounds)
        get = report.span("malloc")
        columns = {
            "malloc": get,
            "all": report.time,
            "pool MiB": lambda run: run.figures["pool_mib"][0],
        }
        print_table(results, failed, columns)
        # A pair of pages is available to both, so a separate heap gains nothing.
        if mode == "hold" and "mpg LOCK=0" in results and "mpg" in results:
            slow, fast = results["mpg"], results["mpg LOCK=0"]
            what = f"{mode}, LOCK=0 faster than LOCK=1"
            report.faster(what, figures(slow, get), figures(fast, get), BAR_LOCK)
        peer = fastest(results, setups, get, hugetlb=True)
        shared = "mpg" if mode == "pair" else "mpg LOCK=0 keep"
        for name in ("mpg LOCK=0", shared):
            if peer and name in results:
                report.ratio(
                    f"{mode}, {name} against {peer}",
                    figures(results[name], get),
                    figures(results[peer], get),
                    BAR_HUGETLB_PEER,
                )


def measure_come_and_go(bench: Bench, report: Report, setups: list[Setup], rounds: int):
    print("\n## blocks that come and go, ms")
    results, failed = bench.rounds(setups, [bench.build("comeAndGo.c")], rounds)
    names = ["one16K", "one64K", "one256K", "one1M", "one8M", "many"]
    print_table(results, failed, {name: report.span(name) for name in names})
    for name in names:
        get = report.span(name)
        peer = fastest(results, setups, get)
        if peer and "mpg" in results:
            report.ratio(
                f"{name}, mpg against {peer}",
                figures(results["mpg"], get),
                figures(results[peer], get),
                BAR_COME_AND_GO,
            )


# --- The small programs


def geometric_means(all_results: dict[str, Results], name: str, get: Get):
    """The mean over all programs, for each round."""
    columns = [figures(results[name], get) for results in all_results.values()]
    return [math.exp(statistics.fmean(map(math.log, row))) for row in zip(*columns)]


def judge_program(report: Report, title: str, results: Results,
                  setups: list[Setup], ours: str) -> None:
    peer = fastest(results, setups, report.time)
    if ours not in results or not peer:
        return
    report.ratio(
        f"{title}, {ours} against {peer}",
        figures(results[ours], report.time),
        figures(results[peer], report.time),
        BAR_PROGRAM,
    )
    if "jemalloc" in results:
        peak = middle_run(results[ours]).peak_mib()
        bar = BAR_PEAK * middle_run(results["jemalloc"]).peak_mib() + PEAK_ROOM_MIB
        report.check_max(f"{title}, {ours}, peak memory", peak, bar, "MiB")


def judge_means(report: Report, all_results: dict[str, Results],
                setups: list[Setup]) -> None:
    complete = [
        setup
        for setup in setups
        if all(setup.name in results for results in all_results.values())
    ]
    if not all_results or not complete:
        return
    means = {
        setup.name: geometric_means(all_results, setup.name, report.time)
        for setup in complete
    }
    print(f"\n## all {len(all_results)} programs, geometric mean, ms\n")
    for name, values in means.items():
        print(f"  {name:16} {cell(values)}")
    print()
    peers = [setup.name for setup in complete if not setup.is_ours]
    if not peers:
        return
    best = min(peers, key=lambda name: statistics.median(means[name]))
    for setup in complete:
        if setup.is_ours:
            mine = means[setup.name]
            if "glibc" in means:
                what = f"mean, {setup.name} against glibc"
                report.ratio(what, mine, means["glibc"], BAR_MEAN_GLIBC)
            what = f"mean, {setup.name} against {best}"
            report.ratio(what, mine, means[best], BAR_MEAN_BEST)


def measure_programs(bench: Bench, report: Report, setups: list[Setup],
                     titles: list[str], rounds: int) -> None:
    all_results: dict[str, Results] = {}
    for title in titles:
        print(f"\n## {title}")
        source, *arguments = title.split()
        command = [bench.build(source), *arguments]
        results, failed = bench.rounds(setups, command, rounds)
        columns: dict[str, Get] = {
            "wall ms": lambda run: run.wall_ms,
            "processor ms": lambda run: run.cpu_ms,
            "peak MiB": Run.peak_mib,
            "of it pool": lambda run: run.pool_mib,
        }
        print_table(results, failed, columns)
        judge_program(report, title, results, setups, "mpg")
        all_results[title] = results
        sys.stdout.flush()
    judge_means(report, all_results, setups)


# --- Programs of others


def make_source(folder: str) -> str:
    """A C++ file of 1,000 lines that uses containers as people do."""
    lines = [f"#include <{name}>" for name in ("map", "string", "vector")]
    part = """\
struct Part{n} {{
  std::string name;
  std::vector<int> numbers[{n} % 3 + 1];
  std::map<std::string, int> byName;
}};
int work{n}(std::map<int, Part{n}> &parts, const std::vector<Part{n}> &more) {{
  int sum = 0;
  for (const Part{n} &one : more) {{
    parts[sum] = one;
    parts[sum].byName[one.name + "{n}"] += sum;
    for (int number : one.numbers[0])
      parts[number].numbers[0].push_back(sum += number);
  }}
  return sum + static_cast<int>(parts.size());
}}
""".splitlines()
    number = 0
    while len(lines) + len(part) <= 1000:
        lines += [line.format(n=number) for line in part]
        number += 1
    path = os.path.join(folder, "thousand.cpp")
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")
    return path


def measure_others(bench: Bench, report: Report, setups: list[Setup], rounds: int):
    print("\n## python3 -c pass")
    columns: dict[str, Get] = {
        "processor ms": lambda run: run.cpu_ms,
        "resident MiB": lambda run: run.resident_mib,
        "pool MiB": lambda run: run.pool_mib,
    }
    command = ["/usr/bin/python3", "-c", "pass"]
    results, failed = bench.rounds(setups, command, rounds)
    print_table(results, failed, columns)
    if "mpg" in results:
        used = max(run.pool_mib for run in results["mpg"])
        report.check_max("python3 -c pass, pool", used, BAR_PYTHON_MIB, "MiB")
    print("\n## clang, 1,000 lines of C++")
    source = make_source(bench.folder)
    command = ["/usr/bin/clang++-22", "-O2", "-c", source, "-o", "/dev/null"]
    results, failed = bench.rounds(setups, command, max(2, rounds // 5))
    columns["together MiB"] = Run.peak_mib
    print_table(results, failed, columns)
    if "mpg" in results and "glibc" in results:
        ours, theirs = (figures(results[n], Run.peak_mib) for n in ("mpg", "glibc"))
        report.ratio("clang, peak memory against glibc", ours, theirs, BAR_CLANG)


# --- Around it


def parse_arguments() -> argparse.Namespace:
    arguments = parse(__doc__, lib=LIBRARY, rounds=30,
                      quick={"action": "store_true", "help": "5 rounds"},
                      only={"default": "", "metavar": "REGEX",
                            "help": "of 'guide 7.3', 'guide 7.4', 'come and go', 'others', file "
                                    "names of programs with their argument"},
                      setups="", pages=PAGES_NEEDED, peer=PEER,
                      cpu={"action": "store_true", "help": "judge processor time"})
    if arguments.quick:
        arguments.rounds = 5
    check_needs(arguments)
    free = read_pool("free_hugepages")
    if free < arguments.pages:
        refuse(
            f"{free} large pages are free, {arguments.pages} are needed; fix: "
            f"echo {read_pool('nr_hugepages') + arguments.pages - free} > "
            "/proc/sys/vm/nr_hugepages"
        )
    return arguments


def main() -> int:
    arguments = parse_arguments()
    # So that what is mounted is unmounted, whoever ends this.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("heap.py: ended"))
    report = Report(arguments.cpu)
    wanted = re.compile(arguments.only)
    with Bench() as bench:
        peers, missing = find_peers(bench.hugetlbfs, arguments.peer)
        setups = [
            setup
            for setup in peers + our_setups(os.path.abspath(arguments.lib))
            if re.search(arguments.setups, setup.name)
        ]
        print(
            f"Measured on {machine()}, {os.confstr('CS_GNU_LIBC_VERSION')}, "
            f"pool {read_pool('nr_hugepages')} x 2 MiB, {arguments.rounds} rounds, "
            f"{'processor' if arguments.cpu else 'wall'} time, "
            f"{datetime.date.today().isoformat()}. Cells: median (least..most)."
        )
        if missing:
            print(f"Not installed: {', '.join(missing)}.")
        bench.warm_pool(arguments.pages)
        for title, measure in (
            ("guide 7.3", measure_blocks),
            ("guide 7.4", measure_parallel),
            ("come and go", measure_come_and_go),
            ("others", measure_others),
        ):
            if wanted.search(title):
                measure(bench, report, setups, arguments.rounds)
        titles = [title for title in PROGRAMS if wanted.search(title)]
        measure_programs(bench, report, setups, titles, arguments.rounds)
    if report.missed:
        print(f"\nmissed {len(report.missed)}:")
        print("".join(f"  {what}\n" for what in report.missed), end="")
    return 1 if report.missed else 0


sys.exit(main())
