"""Runs regions.c with fewer large pages than it needs, in each of several ways.

    shortage.py --lib LIBMPG.SO --need PAGES [--policy prepage,demand] PROGRAM

For k = 0, 1, a few, nearly all, and all of the pages that it needs, limited by a cgroup's usage and
by its reservations: the program's result is right, its exit status 0, and standard error has
exactly one line with the limit's file and value, or none if k pages are enough. While it waits, the
program has as many large pages as the limit allows.
"""

import argparse
import itertools
import os
import sys
from typing import List

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(HERE, "../..", name) for name in ("lib", "tools")]

import pagemap  # noqa: E402
from mpgtest.cgroups import Hierarchy  # noqa: E402
from mpgtest.options import parse  # noqa: E402
from mpgtest.run import finish

MIB2 = 2 << 20


def find_problems(
    options: argparse.Namespace,
    hierarchy: Hierarchy,
    pages: int,
    limit: str,
    policy: str,
) -> List[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "LD_PRELOAD": options.lib,
        "MPG_MODE": "hugetlb",
        "XOS_MMM_L_LPG_MODE": "base",
        "XOS_MMM_L_PAGING_POLICY": f"{policy}:demand:prepage",
    }
    if options.copy_back:
        environment["MPG_TEST_COPY_BACK"] = "1"
    usage, reserve = (pages, None) if limit == "usage" else (None, pages)
    with hierarchy.group() as group:
        group.limit(usage, reserve)
        # It writes to all of its .bss after it has been looked at.
        result, status, text = pagemap.run(
            [options.program, "late"], options.program, environment, group.enter
        )
    if status or not result:
        return [f"it ended with {status}: {text.strip()}"]
    problems = []
    have = -(-result["all"]["hugetlb"] // MIB2)
    enough = pages >= options.need
    # The heap prints its own line.
    lines = [
        line
        for line in text.splitlines()
        if line != "ready" and not line.startswith("mpg: heap: ")
    ]
    if len(lines) != (0 if enough else 1):
        problems.append(f"{len(lines)} lines: {lines}")
    # By its name: another test may have mounted the hierarchy at another place.
    elif lines and (os.path.basename(group.path) not in lines[0] or "fix: " not in lines[0]):
        problems.append(f"the line names no cause or no remedy: {lines[0]}")
    if not enough and have < pages:
        problems.append(f"{have} large pages, but there were {pages}")
    if enough and have < options.need:
        problems.append(f"{have} large pages, not {options.need}")
    return problems


def main() -> int:
    options = parse(__doc__, "program", lib=str, need=int, policy="prepage,demand",
                    all={"action": "store_true", "help": "every k"}, copy_back=False)
    need = options.need
    counts = sorted({0, 1, 5, need // 2, need - 1, need, need + 3})
    if options.all:
        counts = list(range(need + 1))
    cases = list(itertools.product(("usage", "reserve"), options.policy.split(","), counts))
    with Hierarchy() as hierarchy:
        problems = [f"{pages} pages, {limit}, {policy}: {problem}" for limit, policy, pages in cases
                    for problem in find_problems(options, hierarchy, pages, limit, policy)]
    return finish(problems, f"{len(cases)} runs, {{}} problems")


sys.exit(main())
