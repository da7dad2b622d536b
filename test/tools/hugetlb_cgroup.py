"""Groups of processes with limits on large pages, for tests (needs root).

    hugetlb_cgroup.py [--usage PAGES] [--reserve PAGES] [--peak FILE] -- COMMAND...

Runs the command in a new hugetlb cgroup (v1 or v2) with limits on 2 MiB pages:
on those in use, and on those reserved. --peak writes the largest number of bytes
that were in use at once, or -1 where the kernel does not count that. The exit
status is the command's; 125 without a hugetlb cgroup.

`hugetlb_cgroup.py --probe` says with its exit status whether it would work.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from typing import Iterator, List, Optional, Tuple

MIB2 = 2 << 20


class Hierarchy:
    """Where hugetlb groups can be made; mounted here if need be."""

    def __init__(self) -> None:
        self.mounted: Optional[str] = None
        self.enabled: Optional[str] = None
        self.v2 = False
        # v1 first: it knows the peak. It is refused while v2 is in use. A mount of
        # our own: another test's goes when that test ends.
        root = self._mount_v1() or self._find_v1() or self._find_v2()
        if not root:
            raise OSError("no hugetlb cgroup on this machine")
        self.root = root

    @staticmethod
    def _mounts() -> Iterator[Tuple[str, List[str]]]:
        with open("/proc/self/mountinfo") as file:
            for line in file:
                before, _, after = line.partition(" - ")
                yield before.split()[4], after.split()

    def _find_v1(self) -> Optional[str]:
        for mount, words in self._mounts():
            if words[0] == "cgroup" and "hugetlb" in words[2].split(","):
                return mount
        return None

    def _mount_v1(self) -> Optional[str]:
        place = tempfile.mkdtemp(prefix="hugetlb-cgroup-")
        done = subprocess.run(
            ["mount", "-t", "cgroup", "-o", "hugetlb", "none", place],
            stderr=subprocess.DEVNULL,
        )
        if done.returncode:
            os.rmdir(place)
            return None
        self.mounted = place
        return place

    def _find_v2(self) -> Optional[str]:
        for mount, words in self._mounts():
            if words[0] != "cgroup2":
                continue
            with open(os.path.join(mount, "cgroup.controllers")) as file:
                if "hugetlb" not in file.read().split():
                    continue
            control = os.path.join(mount, "cgroup.subtree_control")
            with open(control) as file:
                has_it = "hugetlb" in file.read().split()
            if not has_it:
                with open(control, "w") as file:
                    file.write("+hugetlb")
                self.enabled = control
            self.v2 = True
            return mount
        return None

    def close(self) -> None:
        if self.mounted:
            # Lazily: where it cannot be mounted twice another test may be in it.
            subprocess.run(["umount", "-l", self.mounted], check=False)
            os.rmdir(self.mounted)
        if self.enabled:
            try:
                with open(self.enabled, "w") as file:
                    file.write("-hugetlb")
            except OSError:
                pass  # another test has groups in it


class Group:
    def __init__(self, hierarchy: Hierarchy) -> None:
        self.v2 = hierarchy.v2
        self.path = tempfile.mkdtemp(prefix="mpg-test-", dir=hierarchy.root)

    def _write(self, name: str, value: int) -> None:
        with open(os.path.join(self.path, name), "w") as file:
            file.write(str(value))

    def limit(self, usage: Optional[int], reserve: Optional[int]) -> None:
        suffix = "max" if self.v2 else "limit_in_bytes"
        if usage is not None:
            self._write(f"hugetlb.2MB.{suffix}", usage * MIB2)
        if reserve is not None:
            self._write(f"hugetlb.2MB.rsvd.{suffix}", reserve * MIB2)

    def enter(self) -> None:
        self._write("cgroup.procs", os.getpid())

    def peak(self) -> int:
        try:
            name = os.path.join(self.path, "hugetlb.2MB.max_usage_in_bytes")
            with open(name) as file:
                return int(file.read())
        except OSError:
            return -1

    def close(self) -> None:
        # A program may leave processes behind that are about to end.
        deadline = time.monotonic() + 5
        while True:
            try:
                return os.rmdir(self.path)
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--usage", type=int)
    parser.add_argument("--reserve", type=int)
    parser.add_argument("--peak")
    parser.add_argument("--probe", action="store_true")
    parser.add_argument("command", nargs="*")
    options = parser.parse_args()
    try:
        hierarchy = Hierarchy()
    except OSError as error:
        print(f"hugetlb_cgroup.py: {error}", file=sys.stderr)
        return 125
    try:
        group = Group(hierarchy)
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
