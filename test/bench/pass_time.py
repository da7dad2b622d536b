#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Share of MpgPasses.so in the time that clang spends in passes.

50 C and C++ files of Debian source packages, that no configure script must
prepare, are compiled for A64FX with -O3 -ftime-report. Six cases:

  no hints      the plugin is loaded and finds nothing to do
  random hints  random-hints=1: a hint on every variable, more work than any user
                makes
  user's hints  the kernels of test/passes/cost: small files full of hints
  zero fill     zfill=18: loops exist twice
  prefetch      prefetch=far
  sectors       sector=auto: all loops are looked at

The figure is the processor time of all passes whose names contain "mpg" divided by the total of the
"Pass execution timing report", summed over the files of a case: optimiser and code generator,
without the front end. Both come from one process, so other load on the machine matters little.
Analyses that our passes request have separate timers and are not in that report. So the processor
time of the whole compile and the size of the objects, with the plugin over without, are printed as
well, without a bar. The bar must hold in the slowest run.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Dict, List, Optional

sys.dont_write_bytecode = True
from measuring import BUILD, REPO, machine, parse, refuse

sys.path.insert(0, str(REPO / "test" / "soak"))
from debian_source import Sources, SourceError  # noqa: E402

BAR_PERCENT = 2.0
FILES = 50
# Package, folder with the sources, folders to include from; all below the tree.
PACKAGES = [
    ("zlib", ".", ["."]),
    ("bzip2", ".", ["."]),
    ("lz4", "lib", ["lib"]),
    ("double-conversion", "double-conversion", ["."]),
    ("re2", "re2", ["."]),
]
NUMBERS = re.compile(r"([\d.]+) \(\s*[\d.]+%\)")


@dataclasses.dataclass
class Source:
    path: pathlib.Path
    flags: List[str]


@dataclasses.dataclass
class Times:
    """Seconds of the processor."""

    ours: float = 0
    passes: float = 0
    process: float = 0
    object_bytes: int = 0

    def percent(self) -> float:
        return 100 * self.ours / self.passes

    def __iadd__(self, other: "Times") -> "Times":
        self.ours += other.ours
        self.passes += other.passes
        self.process += other.process
        self.object_bytes += other.object_bytes
        return self


def read_report(text: str) -> Times:
    """The block on passes of -ftime-report; the column before the last is user
    and system time together."""
    start = text.find("Pass execution timing report")
    block = text[start:text.find("\n===", text.find("\n===", start) + 1)]
    if start < 0 or "User+System" not in block:
        sys.exit("pass_time.py: -ftime-report has no times of passes; this script "
                 "knows the format of clang 22")
    times = Times()
    for line in block.split("\n"):
        numbers = NUMBERS.findall(line)
        if len(numbers) < 2:
            continue
        name = line.rsplit(")", 1)[1].strip()
        if name == "Total":
            times.passes = float(numbers[-2])
        elif "mpg" in name:
            times.ours += float(numbers[-2])
    return times


def compile_once(compiler: List[str], source: Source, plugin: List[str],
                 options: str) -> Optional[Times]:
    """None if the file does not compile."""
    with tempfile.TemporaryFile("w+") as report, tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "object.o")
        child = subprocess.Popen(
            [*compiler, "-O3", "-ftime-report", "-w", "-c", str(source.path),
             "-o", output, *source.flags, *plugin],
            stdin=subprocess.DEVNULL, stdout=report, stderr=report,
            env={**os.environ, "MPG_PASS_OPTIONS": options})
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        report.seek(0)
        if child.returncode != 0:
            return None
        times = read_report(report.read())
        times.object_bytes = os.path.getsize(output)
    times.process = usage.ru_utime + usage.ru_stime
    return times


def find_sources(work: pathlib.Path, compiler: List[str]) -> List[Source]:
    """The first FILES that compile, taken from the packages in turn."""
    trees = Sources(work)
    queues: List[List[Source]] = []
    for package, folder, includes in PACKAGES:
        tree = trees.unpacked(package)
        flags = [f"-I{tree / include}" for include in includes]
        queues.append([Source(path, flags)
                       for path in sorted((tree / folder).iterdir())
                       if path.suffix in (".c", ".cc")])
    found: List[Source] = []
    while len(found) < FILES and any(queues):
        for queue in queues:
            if queue and len(found) < FILES:
                source = queue.pop(0)
                if compile_once(compiler, source, [], ""):
                    found.append(source)
    return found


def measure_case(name: str, compiler: List[str], sources: List[Source],
                 plugin: List[str], options: str, runs: int) -> bool:
    """Prints the case; whether every run keeps the bar."""
    percents: List[float] = []
    ratios: List[float] = []
    files: Dict[str, List[float]] = {}
    for _ in range(runs):
        with_plugin, without = Times(), Times()
        for source in sources:
            ours = compile_once(compiler, source, plugin, options)
            plain = compile_once(compiler, source, [], "")
            if not ours or not plain:
                sys.exit(f"pass_time.py: {source.path} does not compile "
                         f"{'with the plugin' if plain else 'any more'}")
            with_plugin += ours
            without += plain
            files.setdefault(source.path.name, []).append(ours.percent())
        percents.append(with_plugin.percent())
        ratios.append(with_plugin.process / without.process)
        size = with_plugin.object_bytes / without.object_bytes
    worst = max(files, key=lambda file: min(files[file]))
    reached = max(percents) <= BAR_PERCENT
    print(f"{name}: {len(sources)} files, {runs} runs: "
          f"{statistics.median(percents):.2f} % of the passes' time is ours "
          f"(min {min(percents):.2f}, max {max(percents):.2f}), bar "
          f"{BAR_PERCENT:.0f} %: {'reached' if reached else 'not reached'}\n"
          f"  worst file {worst} with {min(files[worst]):.2f} %; whole compile "
          f"{statistics.median(ratios):.3f}x of that without the plugin "
          f"({min(ratios):.3f} to {max(ratios):.3f}), objects {size:.3f}x", flush=True)
    return reached


def parse_arguments() -> argparse.Namespace:
    arguments = parse(__doc__, plugin=BUILD / "lib/MpgPasses.so", clang="clang-22", runs=5,
                      own={"action": "store_true", "help": "the user's hints alone"},
                      zfill={"action": "store_true", "help": "zero fill alone"},
                      prefetch={"action": "store_true", "help": "prefetch alone"},
                      sectors={"action": "store_true", "help": "sectors alone"},
                      work={"type": pathlib.Path, "metavar": "FOLDER",
                            "help": "keeps the sources; default: a temporary folder"})
    if not arguments.plugin.exists():
        refuse(f"no plugin {arguments.plugin}; build mpg_pass_plugin")
    return arguments


def main() -> int:
    arguments = parse_arguments()
    compiler = [arguments.clang, "--target=aarch64-linux-gnu", "-mcpu=a64fx"]
    plugin = [f"-fpass-plugin={arguments.plugin}", "-DMPG_HINTS"]
    include = f"-I{REPO / 'runtime' / 'include'}"
    kernels = [Source(path, [include])
               for path in sorted((REPO / "test/passes/cost").iterdir())
               if path.suffix in (".c", ".cpp")
               and not path.name.startswith("survive")]
    print(f"machine: {machine()}; {time.strftime('%Y-%m-%d')}")
    if arguments.own:
        return not measure_case("user's hints", compiler, kernels, plugin, "", arguments.runs)
    with tempfile.TemporaryDirectory() as scratch:
        work = arguments.work or pathlib.Path(scratch)
        work.mkdir(parents=True, exist_ok=True)
        try:
            sources = find_sources(work, compiler)
        except SourceError as error:
            sys.exit(f"pass_time.py: {error}")
        if len(sources) < FILES:
            sys.exit(f"pass_time.py: only {len(sources)} files compile, not "
                     f"{FILES}; are the headers for AArch64 there "
                     "(libc6-dev-arm64-cross, libstdc++-12-dev-arm64-cross)?")
        zfill = ("zero fill", compiler, sources, plugin, "zfill=18", arguments.runs)
        prefetch = ("prefetch", compiler, sources, plugin, "prefetch=far", arguments.runs)
        sectors = ("sectors", compiler, sources, plugin, "sector=auto", arguments.runs)
        for is_alone, case in ((arguments.zfill, zfill), (arguments.prefetch, prefetch),
                               (arguments.sectors, sectors)):
            if is_alone:
                return not measure_case(*case)
        reached = [
            measure_case("no hints", compiler, sources, plugin, "", arguments.runs),
            measure_case("random hints", compiler, sources, plugin,
                         "random-hints=1", arguments.runs),
            measure_case("user's hints", compiler, kernels, plugin, "",
                         arguments.runs),
            measure_case(*zfill),
            measure_case(*prefetch),
            measure_case(*sectors)]
    return 0 if all(reached) else 1


sys.exit(main())
