#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time and peak memory of ordinary programs with libmpg's heap and with others.

Runs those programs of the list that this machine has, with glibc's malloc, the
allocators of heap_runs.py, and libmpg on transparent pages (thp) and with the pool
(auto). --peer adds a library, for example a newer mimalloc or snmalloc. All run in
turn, in an order drawn anew for each round.

Prints for each program the ratios of medians to glibc: processor time, wall time,
peak. The last rows are geometric means over the programs with the 95 % interval of
the rounds. Peaks are as heap_runs.py says. Needs root and a mounted hugetlbfs.
"""

from __future__ import annotations

import datetime
import math
import os
import random
import shutil
import signal
import statistics
import sys

from heap_runs import PEER, Bench, Run, Setup, check_needs, find_peers, middle, read_pool
from measuring import LIBRARY, REPO, machine, parse
from mpgaudit_speed import Estimate

FIGURES = {
    "processor time": lambda run: run.cpu_ms,
    "wall time": lambda run: run.wall_ms,
    "peak memory": Run.peak_mib,
}
CPP = """\
#include <algorithm>
#include <map>
#include <regex>
#include <string>
int count(const std::string &text) {
  std::map<std::string, int> words;
  const std::regex word("[a-z]+");
  for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at)
    ++words[at->str()];
  return static_cast<int>(words.size());
}
"""
DICT = """\
table = {str(number): [number] for number in range(200000)}
print(sum(len(row) for row in table.values()))
"""
JSON = """\
import json
rows = [{"a": n, "b": str(n) * 3, "c": [1, 2, n]} for n in range(30000)]
text = json.dumps(rows)
for _ in range(3):
    json.loads(text)
"""
PERL = """\
my %table; $table{"key$_"} = $_ for 1..200000;
my $sum = 0; $sum += $_ for values %table; print "$sum\\n";
"""
SQL = """\
create table t(a integer primary key, b text);
with recursive n(x) as (select 1 union all select x + 1 from n where x < 100000)
  insert into t select x, hex(x * 7919) from n;
create index i on t(b);
select count(*), max(b) from t where b > '5';
"""


def write(folder: str, name: str, text: str) -> str:
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def make_programs(folder: str) -> dict[str, list[str]]:
    """Commands by name, of the programs that are there."""
    draw = random.Random(1)
    letters = "abcdefghij"
    lines = ("".join(draw.choices(letters, k=8)) + "\n" for _ in range(150000))
    words = write(folder, "words", "".join(lines))
    functions = (
        f"int f{n}(int a, int b) {{ int s = 0; "
        f"for (int i = 0; i < a; i++) s += b * i ^ {n}; return s; }}\n"
        for n in range(400)
    )
    code = write(folder, "code.c", "".join(functions))
    cpp = write(folder, "code.cpp", CPP)
    sql = write(folder, "table.sql", SQL)
    programs = {
        "cc": ["cc", "-O1", "-c", code, "-o", "/dev/null"],
        "c++": ["c++", "-O1", "-c", cpp, "-o", "/dev/null"],
        "clang++": ["clang++-22", "-O1", "-c", cpp, "-o", "/dev/null"],
        "python3 dict": ["/usr/bin/python3", write(folder, "dict.py", DICT)],
        "python3 JSON": ["/usr/bin/python3", write(folder, "rows.py", JSON)],
        "python3 -c pass": ["/usr/bin/python3", "-c", "pass"],
        "perl": ["perl", write(folder, "table.pl", PERL)],
        "sqlite3": ["sqlite3", ":memory:", f".read {sql}"],
        "xz": ["xz", "-2", "-k", "-f", words],
        "sort": ["sort", "--parallel=2", "-S", "20M", words],
        "awk": ["awk", "{n[$1]++} END {for (k in n) s += n[k]; print s}", words],
        "git log": ["git", "-C", REPO, "log", "--stat", "-30"],
        "objdump": ["objdump", "-d", "/bin/bash", "--stop-address=0x60000"],
        "bash": ["bash", "-c", "for i in {1..20000}; do a[i]=$i; done"],
        "grep": ["grep", "-c", "a.*b.*c", words],
        "tar": ["tar", "cf", "/dev/null", "-C", REPO, "runtime"],
    }
    paths = {name: shutil.which(command[0]) for name, command in programs.items()}
    return {name: [path, *programs[name][1:]] for name, path in paths.items() if path}


def our_setups(library: str) -> list[Setup]:
    common = {"LD_PRELOAD": library, "MPG_QUIET": "1"}
    return [
        Setup(f"mpg {mode}", {**common, "MPG_MODE": mode}, is_ours=True)
        for mode in ("thp", "auto")
    ]


def print_means(all_results: list[dict[str, list[Run]]], names: list[str]) -> None:
    """Geometric means over the programs that all set-ups ran."""
    whole = [results for results in all_results if set(names) <= results.keys()]
    for title, get in FIGURES.items():
        cells = []
        for name in names:
            ratios = []
            for turn in range(len(whole[0][name])):
                logs = (
                    math.log(get(results[name][turn]) / get(results["glibc"][turn]))
                    for results in whole
                )
                ratios.append(math.exp(statistics.fmean(logs)))
            found = Estimate.of(ratios)
            cells.append(f"{found.mean:.3f} ({found.low:.3f} to {found.high:.3f})")
        print(f"| {title}, geometric mean of {len(whole)} | | " + " | ".join(cells) + " |")


def main() -> int:
    arguments = parse(__doc__, lib=LIBRARY, rounds=9, peer=PEER,
                      only={"default": "", "metavar": "A,B", "help": "of the programs"})
    check_needs(arguments)
    # So that what is mounted is unmounted, whoever ends this.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("heap_programs.py: ended"))
    with Bench() as bench:
        peers, missing = find_peers(bench.hugetlbfs, arguments.peer)
        setups = [setup for setup in peers if not setup.is_hugetlb]
        setups += our_setups(os.path.abspath(arguments.lib))
        print(
            f"Measured on {machine()}, "
            f"{os.confstr('CS_GNU_LIBC_VERSION')}, pool {read_pool('nr_hugepages')} x "
            f"2 MiB, {arguments.rounds} rounds, {datetime.date.today().isoformat()}. "
            "Cells: processor time, wall time, peak memory over glibc's."
        )
        if missing:
            print(f"Not installed: {', '.join(missing)}.")
        names = [setup.name for setup in setups if setup.name != "glibc"]
        print("\n| program | glibc | " + " | ".join(names) + " |")
        print("|---" * (len(names) + 2) + "|")
        all_results = []
        for program, command in make_programs(bench.folder).items():
            if arguments.only and program not in arguments.only.split(","):
                continue
            results, failed = bench.rounds(setups, command, arguments.rounds)
            if "glibc" not in results:
                print(f"| {program} | {failed['glibc']} |")
                continue
            base = {title: middle(results["glibc"], get) for title, get in FIGURES.items()}
            cells = [
                failed.get(name)
                or " ".join(
                    f"{middle(results[name], get) / base[title]:.2f}"
                    for title, get in FIGURES.items()
                )
                for name in names
            ]
            first = f"{base['processor time']:.0f} ms, {base['peak memory']:.0f} MiB"
            print(f"| {program} | {first} | " + " | ".join(cells) + " |", flush=True)
            all_results.append(results)
        print_means(all_results, names)
    return 0


sys.exit(main())
