"""Runs one program in all kinds, links, modes, and paging policies on large pages.

The program is regions.c: random .data, sparsely written .bss, and its own checks of values,
addresses, RELRO, and the heap of brk. pagemap.py proves which pages its memory is on. Conditions
for each run:

  hugetlb  linked with ld.mpg: all of .data and .bss; by the stock linker: all but
           4 MiB. prepage: .bss is there at once; demand: only what was written
  thp      95 % of that, where the machine allows it
  none     the same check fails
  all      the extra memory at any moment is at most 64 MiB; nothing on standard
           error. The extra memory is the peak of resident memory (VmHWM) less
           what is left of it, and the same for large pages (peak of a hugetlb
           cgroup), as if both peaks had been at the same moment

Exit status: 0, or 1 with a line for each run that is not as it should be.
"""

import argparse
import contextlib
import os
import sys
from typing import Dict, List, NamedTuple

import pagemap

HERE = os.path.dirname(os.path.realpath(__file__))
from mpgtest.cgroups import Hierarchy
from mpgtest.links import KINDS
from mpgtest.memory import TRIES, compact
from mpgtest.options import parse
from mpgtest.run import finish, output

INPUTS = os.path.join(HERE, "..", "runtime", "Inputs")
MIB = 1 << 20
MAX_EXTRA = 64 * MIB
EDGES = 4 * MIB

FLAGS: Dict[str, List[str]] = {k: v for k, v in KINDS.items() if k != "shared"}


class Program(NamedTuple):
    kind: str
    linker: str  # ld.mpg or stock
    way: str  # linked or preloaded
    path: str


class Run(NamedTuple):
    program: Program
    mode: str
    policy: str

    def __str__(self) -> str:
        p = self.program
        return f"{p.kind} {p.linker} {p.way} {self.mode} {self.policy}"


def build(options: argparse.Namespace) -> List[Program]:
    """One program of each kind, linker, and way to get the library."""
    data = os.path.join(options.work, "data")
    make = os.path.join(INPUTS, "make_data.py")
    output([sys.executable, make, str(options.data), str(options.seed), data])
    tools = os.path.join(options.work, "linker")
    os.makedirs(tools, exist_ok=True)
    link = os.path.join(tools, "ld")
    if not os.path.islink(link):
        os.symlink(options.ld_mpg, link)
    programs = []
    for kind in options.kinds.split(","):
        is_static = kind.startswith("static")
        for linker in ("ld.mpg", "stock"):
            for way in ("linked",) if is_static else ("linked", "preloaded"):
                path = os.path.join(options.work, f"{kind}-{linker}-{way}")
                command = ["gcc", "-O1", *FLAGS[kind], f"-DBSS_MIB={options.bss}"]
                command += [os.path.join(INPUTS, "regions.c"), data + ".s", "-o", path]
                if linker == "ld.mpg":
                    command += [f"-B{tools}", "-Wl,--mpg-runtime=no"]
                if is_static:
                    archive = os.path.join(options.lib, "libmpgrt.a")
                    command += ["-Wl,-u,mpg_start", archive]
                elif way == "linked":
                    command += [f"-L{options.lib}", f"-Wl,-rpath,{options.lib}"]
                    command += ["-Wl,--no-as-needed", "-lmpgrt"]
                output(command)
                programs.append(Program(kind, linker, way, path))
    return programs


def environment(run: Run, options: argparse.Namespace) -> Dict[str, str]:
    result = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MPG_", "XOS_", "LD_"))
    }
    result["MPG_MODE"] = run.mode
    result["XOS_MMM_L_PAGING_POLICY"] = f"{run.policy}:demand:prepage"
    result["XOS_MMM_L_LPG_MODE"] = "base"  # the stack is another test's
    if options.copy_back:
        result["MPG_TEST_COPY_BACK"] = "1"
    if run.program.way == "preloaded":
        result["LD_PRELOAD"] = os.path.join(options.lib, "libmpgrt.so")
    return result


def share_problems(run: Run, result: dict) -> List[str]:
    kind = "any" if run.mode == "none" else run.mode
    edges = 0 if run.program.linker == "ld.mpg" else EDGES
    slack = 0 if run.mode == "hugetlb" else result["all"]["bytes"] * 5 // 100
    wanted = argparse.Namespace(kind=kind, min=[], max_normal=[("all", edges + slack)])
    problems = pagemap.check(wanted, result)
    if run.mode == "none":
        return [] if problems else ["large pages although the mode is none"]
    return problems


def paging_problems(run: Run, result: dict, options: argparse.Namespace) -> List[str]:
    """prepage: all of it is present; demand: what was written to."""
    present = result["memory"].get("HugetlbPages", 0)
    if run.mode != "hugetlb":
        return []
    if run.policy == "prepage" and present < result["all"]["hugetlb"]:
        return [f"only {present >> 20} MiB are present"]
    # 10 places in .bss are written to, and .data may begin and end in a page.
    most = (options.data + 2 * (10 + 2)) * MIB
    if run.policy == "demand" and present > most:
        return [f"{present >> 20} MiB are present, allowed are {most >> 20}"]
    return []


def extra_bytes(result: dict, peak: int) -> int:
    memory = result["memory"]
    extra = memory["VmHWM"] - memory["VmRSS"]
    if peak >= 0:
        extra += peak - memory.get("HugetlbPages", 0)
    return extra


def try_run(run: Run, options: argparse.Namespace, hierarchy) -> List[str]:
    # Transparent huge pages of .bss are looked at when all of it is in use.
    touch = ["touch"] if run.mode != "hugetlb" else []
    group = hierarchy.group() if hierarchy else None
    result, status, text = pagemap.run(
        [run.program.path, *touch],
        run.program.path,
        environment=environment(run, options),
        preexec=group.enter if group else None,
    )
    peak = group.peak() if group else -1
    if group:
        group.close()
    if status or not result:
        return [f"the program ended with {status}: {text.strip()}"]
    problems = [] if text.strip() == "ready" else [f"it says: {text.strip()}"]
    problems += share_problems(run, result)
    problems += paging_problems(run, result, options)
    extra = extra_bytes(result, peak)
    if extra > MAX_EXTRA:
        problems.append(f"{extra >> 20} MiB of extra memory")
    if options.verbose:
        sums = result["all"]
        print(
            f"{run}: {sums['bytes']} bytes, hugetlb {sums['hugetlb']},"
            f" thp {sums['thp']}, {sums['mappings']} mappings,"
            f" extra {extra / MIB:.1f} MiB"
        )
    return problems


def find_problems(run: Run, options: argparse.Namespace, hierarchy) -> List[str]:
    problems = try_run(run, options, hierarchy)
    tries = TRIES if run.mode == "thp" else 0
    while problems and tries:
        compact()
        problems = try_run(run, options, hierarchy)
        tries -= 1
    return problems


def thp_is_allowed() -> bool:
    with open("/sys/kernel/mm/transparent_hugepage/enabled") as file:
        return "[never]" not in file.read()


def main() -> int:
    options = parse(__doc__, lib=str, ld_mpg=str, work=str, kinds=",".join(FLAGS),
                    modes="hugetlb,thp,none", data=64, bss=256, seed=1, copy_back=False,
                    verbose=False)
    options.lib = os.path.realpath(options.lib)
    options.work = os.path.realpath(options.work)
    os.makedirs(options.work, exist_ok=True)
    modes = options.modes.split(",")
    if "thp" in modes and not thp_is_allowed():
        print("transparent huge pages are switched off here: mode thp is left out")
        modes.remove("thp")
    try:
        hierarchy = Hierarchy()
    except OSError as error:
        print(f"{error}: the peak of large pages is not measured")
        hierarchy = None
    problems = []
    with hierarchy or contextlib.nullcontext():
        programs = build(options)
        for program in programs:
            for run in (Run(program, mode, policy) for mode in modes
                        for policy in ("prepage", "demand")):
                problems += [f"{run}: {what}" for what in find_problems(run, options, hierarchy)]
            os.remove(program.path)
    return finish(problems, f"{2 * len(modes) * len(programs)} runs, {{}} problems")


sys.exit(main())
