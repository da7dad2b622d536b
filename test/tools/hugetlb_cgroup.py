"""Groups of processes with limits on large pages, for tests (needs root).

    hugetlb_cgroup.py [--v2] [--usage PAGES] [--reserve PAGES] [--peak FILE] -- COMMAND...

Runs the command in a new hugetlb cgroup (v1 or v2) with limits on 2 MiB pages:
on those in use, and on those reserved; $HUGETLB_GROUP is its folder. --peak writes
the largest number of bytes that were in use at once, or -1 where the kernel does
not count that. The exit status is the command's; 125 without a hugetlb cgroup.

`hugetlb_cgroup.py --probe`: its exit status shows whether it would work.
"""

import os
import subprocess
import sys

from mpgtest.cgroups import Hierarchy
from mpgtest.options import parse


def main() -> int:
    options = parse(__doc__, "command*", v2=False, usage={"type": int}, reserve={"type": int},
                    peak=None, probe=False)
    try:
        hierarchy = Hierarchy(options.v2)
    except OSError as error:
        print(f"hugetlb_cgroup.py: {error}", file=sys.stderr)
        return 125
    with hierarchy, hierarchy.group() as group:
        group.limit(options.usage, options.reserve)
        if options.probe:
            return 0
        done = subprocess.run(options.command, preexec_fn=group.enter,
                              env={**os.environ, "HUGETLB_GROUP": group.path})
        if options.peak:
            with open(options.peak, "w") as file:
                file.write(f"{group.peak()}\n")
    status = done.returncode
    return status if status >= 0 else 128 - status


sys.exit(main())
