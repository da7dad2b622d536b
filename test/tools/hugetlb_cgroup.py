"""Groups of processes with limits on large pages, for tests (needs root).

    hugetlb_cgroup.py [--v2] [--usage PAGES] [--reserve PAGES] [--peak FILE] -- COMMAND...

Runs the command in a new hugetlb cgroup (v1 or v2) with limits on 2 MiB pages:
on those in use, and on those reserved. --peak writes the largest number of bytes
that were in use at once, or -1 where the kernel does not count that. The exit
status is the command's; 125 without a hugetlb cgroup.

`hugetlb_cgroup.py --probe`: its exit status shows whether it would work.
"""

import argparse
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from mpgtest.cgroups import Hierarchy  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--v2", action="store_true")
    parser.add_argument("--usage", type=int)
    parser.add_argument("--reserve", type=int)
    parser.add_argument("--peak")
    parser.add_argument("--probe", action="store_true")
    parser.add_argument("command", nargs="*")
    options = parser.parse_args()
    try:
        hierarchy = Hierarchy(options.v2)
    except OSError as error:
        print(f"hugetlb_cgroup.py: {error}", file=sys.stderr)
        return 125
    try:
        group = hierarchy.group()
        try:
            group.limit(options.usage, options.reserve)
            if options.probe:
                return 0
            done = subprocess.run(options.command, preexec_fn=group.enter)
            if options.peak:
                with open(options.peak, "w") as file:
                    file.write(f"{group.peak()}\n")
        finally:
            group.close()
    finally:
        hierarchy.close()
    status = done.returncode
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
