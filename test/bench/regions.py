#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shares of an ordinary program on large pages: alone, with peers, with mpgtools.

regions.c is built once with the machine's compiler and linker (PIE) and once with ld.mpg. Each
set-up runs it RUNS times. While it waits, the kernel's lists show the pages of its regions
(test/tools/pagemap.py, which shares no code with libmpg): hugetlb pages, whole transparent huge
pages or, for code, blocks of 2 MiB in the page cache that are mapped as such. The table shows the
median share in percent, and the minimum and maximum where they are more than 2 apart (a PIE has
other addresses in each run). Runs that fail are not counted.

--startup compares the time from start to end of an almost empty program, and of
one with 256 MiB of .bss that it does not touch, with mpgrun and without it:
interleaved in an order drawn anew for each of PAIRS rounds.

Prints Markdown with the machine, the settings and the date. Names peers that are not installed and
skips them. Needs root (page flags) and 160 free large pages.
"""

from __future__ import annotations

import datetime
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

from heap_runs import find_library
from measuring import BUILD, REPO, machine, parse, refuse

sys.path.insert(0, os.path.join(REPO, "test", "tools"))
from pagemap import HUGE, Maps, Pages  # noqa: E402

REGIONS = ["text", ".data", ".bss", "block", "blocks", "stack", "thread-stack"]
POOL = "/sys/kernel/mm/hugepages/hugepages-2048kB"
THP = "/sys/kernel/mm/transparent_hugepage/enabled"


@dataclass
class Setup:
    name: str
    words: list[str]  # in front of the program
    program: str
    environment: dict[str, str] = field(default_factory=dict)


@dataclass
class Seen:
    shares: dict[str, float]
    status: int


class Builder:
    """Programs in a folder of their own."""

    def __init__(self, build: str, folder: str) -> None:
        self.build, self.folder = build, folder

    def compile(self, name: str, source: str, *words: str) -> str:
        out = os.path.join(self.folder, name)
        command = ["gcc", "-O1", "-pthread", source, "-o", out, *words]
        subprocess.run(command, check=True)
        return out

    def with_ldmpg(self, name: str, source: str, *words: str) -> str:
        linker = os.path.join(self.build, "bin", "ld.mpg")
        out = os.path.join(self.folder, name)
        command = ["clang-22", "-O1", "-pthread", f"--ld-path={linker}"]
        subprocess.run([*command, source, "-o", out, *words], check=True)
        return out

    def source(self, name: str, text: str) -> str:
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path


# --- The set-ups


def peers(plain: str, hugetlbfs: str | None) -> tuple[list[Setup], list[str]]:
    """Set-ups of others, and the names of those that are not installed."""
    tunable = "glibc.malloc.hugetlb="
    found = [Setup("plain", [], plain)]
    for number in ("1", "2"):
        words = {"GLIBC_TUNABLES": tunable + number}
        found.append(Setup(f"glibc, malloc.hugetlb={number}", [], plain, words))
    known: list[tuple[str, str, dict[str, str]]] = [
        ("libhugetlbfs preloaded", "libhugetlbfs.so.0", {"HUGETLB_MORECORE": "yes"}),
        ("mimalloc, large pages", "libmimalloc.so.2", {"MIMALLOC_LARGE_OS_PAGES": "1"}),
        ("jemalloc, thp:always", "libjemalloc.so.2", {"MALLOC_CONF": "thp:always"}),
    ]
    if hugetlbfs:
        words = {"TCMALLOC_MEMFS_MALLOC_PATH": os.path.join(hugetlbfs, "heap")}
        known.append(("tcmalloc, memfs", "libtcmalloc_minimal.so.4", words))
    missing = [] if hugetlbfs else ["tcmalloc, memfs (no hugetlbfs can be mounted)"]
    for name, pattern, words in known:
        path = find_library(pattern)
        if path:
            found.append(Setup(name, [], plain, {"LD_PRELOAD": path, **words}))
        else:
            missing.append(name)
    if os.path.exists("/usr/bin/hugectl"):
        words = "hugectl --library-use-path --force-preload --text --data --bss --heap"
        found.append(Setup("hugectl, all regions", words.split(), plain))
    else:
        missing.append("hugectl")
    return found, missing


def ours(builder: Builder, source: str, plain: str) -> list[Setup]:
    mpgrun = os.path.join(builder.build, "bin", "mpgrun")
    folder = os.path.join(builder.build, "lib")
    linked = builder.with_ldmpg("regions-mpg", source)
    alone = builder.with_ldmpg(
        "regions-lmpgrt", source, f"-L{folder}", "-lmpgrt", f"-Wl,-rpath,{folder}"
    )
    preload = {"LD_PRELOAD": os.path.join(folder, "libmpgrt.so"), "MPG_MODE": "hugetlb"}
    hugetlb = [mpgrun, "--mode=hugetlb"]
    return [
        Setup("mpgrun, not relinked", hugetlb, plain),
        Setup("mpgrun, ld.mpg", hugetlb, linked),
        Setup("ld.mpg -lmpgrt, no launcher", [], alone, {"MPG_MODE": "hugetlb"}),
        Setup("libmpg preloaded, not relinked", [], plain, preload),
        Setup("mpgrun --mode=thp, not relinked", [mpgrun, "--mode=thp"], plain),
        Setup("mpgrun --mode=thp, ld.mpg", [mpgrun, "--mode=thp"], linked),
    ]


# --- The kernel's view


def large_bytes(maps: Maps, pages: Pages, start: int, end: int) -> int:
    total = 0
    for low, high, mapping in maps.within(start, end):
        if mapping.get("KernelPageSize", 0) >= HUGE:
            total += (high - low) if pages.first_is_hugetlb(low, high) else 0
        elif mapping.get("AnonHugePages", 0):
            total += pages.thp_bytes(low, high)
        else:
            total += min(high - low, mapping.get("FilePmdMapped", 0))
    return total


def inspect(setup: Setup) -> Seen:
    environment = {**os.environ, **setup.environment}
    with subprocess.Popen(
        [*setup.words, setup.program],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        ranges: dict[str, list[tuple[int, int]]] = {}
        for line in process.stdout:
            words = line.split()
            if words == ["ready"]:
                break
            place = int(words[1], 16), int(words[2], 16)
            ranges.setdefault(words[0], []).append(place)
        shares = {}
        if len(ranges) == len(REGIONS):
            maps, pages = Maps(process.pid), Pages(process.pid)
            for name, parts in ranges.items():
                large = sum(large_bytes(maps, pages, *part) for part in parts)
                size = sum(end - start for start, end in parts)
                shares[name] = 100 * large / size
            os.close(pages.pagemap)
            if pages.flags is not None:
                os.close(pages.flags)
        process.stdin.close()
        process.stdout.read()
    return Seen(shares, process.returncode)


def cell(values: list[float]) -> str:
    if not values:
        return "-"
    middle = f"{statistics.median(values):.0f}"
    if max(values) - min(values) > 2:
        middle += f" ({min(values):.0f}..{max(values):.0f})"
    return middle


def print_table(setups: list[Setup], runs: int) -> bool:
    print("| set-up | " + " | ".join(REGIONS) + " | ends right |")
    print("|---" * (len(REGIONS) + 2) + "|")
    all_right = True
    for setup in setups:
        seen = [inspect(setup) for _ in range(runs)]
        right = sum(one.status == 0 for one in seen)
        cells = [
            cell([one.shares[name] for one in seen if one.shares and one.status == 0])
            for name in REGIONS
        ]
        print(f"| {setup.name} | " + " | ".join(cells) + f" | {right} of {runs} |")
        sys.stdout.flush()
        all_right = all_right and (right == runs or "mpg" not in setup.name)
    return all_right


# --- Start-up


def timed_ms(setup: Setup) -> float:
    environment = {**os.environ, **setup.environment}
    words = [*setup.words, setup.program]
    before = time.perf_counter()
    pid = os.posix_spawn(words[0], words, environment)
    _, status = os.waitpid(pid, 0)
    elapsed = time.perf_counter() - before
    if status:
        raise SystemExit(f"regions.py: {' '.join(words)} ended with {status}")
    return elapsed * 1000


def startup_setups(builder: Builder) -> list[tuple[str, list[Setup]]]:
    mpgrun = os.path.join(builder.build, "bin", "mpgrun")
    preload = {"LD_PRELOAD": os.path.join(builder.build, "lib", "libmpgrt.so")}
    result = []
    for name, text in (
        ("an empty program", "int main(void) { return 0; }\n"),
        (
            "256 MiB of untouched .bss",
            "static char a[256 << 20]; volatile char *p = a;\n"
            "int main(void) { return 0; }\n",
        ),
    ):
        source = builder.source("start.c", text)
        program = builder.compile(f"start-{len(result)}", source)
        off = {**preload, "MPG_MODE": "none"}
        hugetlb = {**preload, "MPG_MODE": "hugetlb"}
        demand = {"XOS_MMM_L_PAGING_POLICY": "demand:demand:demand"}
        prepage = {"XOS_MMM_L_PAGING_POLICY": "prepage:prepage:prepage"}
        result.append(
            (
                name,
                [
                    Setup("plain", [], program),
                    Setup("libmpg, mode none", [], program, off),
                    Setup("libmpg, demand", [], program, {**hugetlb, **demand}),
                    Setup("libmpg, prepage", [], program, {**hugetlb, **prepage}),
                    Setup(
                        "mpgrun, default policy", [mpgrun, "--mode=hugetlb"], program
                    ),
                    Setup(
                        "mpgrun --report",
                        [mpgrun, "--mode=hugetlb", "--report=json:/dev/null"],
                        program,
                    ),
                ],
            )
        )
    return result


def print_startup(setups: list[Setup], pairs: int) -> None:
    times: dict[str, list[float]] = {setup.name: [] for setup in setups}
    for setup in setups:
        timed_ms(setup)  # warms the page cache
    for _ in range(pairs):
        for setup in random.sample(setups, len(setups)):
            times[setup.name].append(timed_ms(setup))
    plain = times[setups[0].name]
    for name, values in times.items():
        low, _, high = statistics.quantiles(values, n=4)
        more = statistics.median(a - b for a, b in zip(values, plain))
        print(
            f"| {name} | {min(values):.2f} | {statistics.median(values):.2f} |"
            f" {low:.2f}..{high:.2f} | {more:+.2f} |"
        )


def startup(builder: Builder, pairs: int) -> None:
    for name, setups in startup_setups(builder):
        print(f"\n{name}, {pairs} interleaved rounds, ms from start to end:\n")
        print("| set-up | least | median | middle half | more than plain (median) |")
        print("|---|---|---|---|---|")
        print_startup(setups, pairs)


# --- Around it


def read_word(path: str) -> str:
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def describe() -> str:
    thp = re.search(r"\[(\w+)\]", read_word(THP)) if os.path.exists(THP) else None
    day = datetime.date.today().isoformat()
    libc = os.confstr("CS_GNU_LIBC_VERSION")
    return (
        f"{machine()}, {libc}, pool {read_word(POOL + '/nr_hugepages')} x"
        f" 2 MiB, transparent huge pages: {thp[1] if thp else 'none'}, {day}"
    )


class Hugetlbfs:
    """A mounted hugetlbfs for tcmalloc, while it lasts; None where not allowed."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.join(folder, "hugetlbfs")

    def __enter__(self) -> str | None:
        os.mkdir(self.folder)
        words = ["mount", "-t", "hugetlbfs", "none", self.folder]
        done = subprocess.run(words, stderr=subprocess.DEVNULL)
        self.mounted = done.returncode == 0
        return self.folder if self.mounted else None

    def __exit__(self, *_: object) -> None:
        if self.mounted:
            subprocess.run(["umount", self.folder], check=False)


def main() -> int:
    options = parse(__doc__, build=str(BUILD), runs=5, pairs=30,
                    startup={"action": "store_true", "help": "only this"})
    if options.pairs == 1:
        refuse("--pairs: two at least, for quartiles")
    with tempfile.TemporaryDirectory() as folder:
        builder = Builder(os.path.abspath(options.build), folder)
        print(f"Measured on {describe()}.\n")
        if options.startup:
            startup(builder, options.pairs)
            return 0
        source = os.path.join(REPO, "test", "bench", "regions.c")
        plain = builder.compile("regions", source)
        with Hugetlbfs(folder) as hugetlbfs:
            setups, missing = peers(plain, hugetlbfs)
            right = print_table(setups + ours(builder, source, plain), options.runs)
    if missing:
        print(f"\nNot installed: {'; '.join(missing)}.")
    return 0 if right else 1


sys.exit(main())
