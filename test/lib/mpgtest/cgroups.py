# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Control groups with a limit: large pages, memory, processes (needs root).

v1 or v2, whichever has the controller.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import time
from typing import Iterator, Optional

MIB2 = 2 << 20
LIMITS = {
    ("memory", False): "memory.limit_in_bytes",
    ("memory", True): "memory.max",
    ("pids", False): "pids.max",
    ("pids", True): "pids.max",
}
NO_SWAP = {False: ("memory.swappiness", 0), True: ("memory.swap.max", 0)}
MEMORY_PEAKS = ("memory.max_usage_in_bytes", "memory.peak")
HUGETLB_PEAKS = ("hugetlb.2MB.max_usage_in_bytes",)


def mounts() -> Iterator[tuple[str, str, list[str]]]:
    """Place, type and options of every hierarchy of groups."""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        for line in file:
            before, _, after = line.partition(" - ")
            kind, _, options = after.split()[:3]
            if kind.startswith("cgroup"):
                yield before.split()[4], kind, options.split(",")


def find_v1(controller: str) -> Optional[str]:
    return next((place for place, kind, options in mounts()
                 if kind == "cgroup" and controller in options), None)


def split_words(*path: str) -> list[str]:
    with open(os.path.join(*path), encoding="ascii") as file:
        return file.read().split()


class Closing:
    """Closed at the end of its `with`."""

    def __enter__(self):  # type: ignore[no-untyped-def]
        return self

    def __exit__(self, *_: object) -> None:
        self.close()  # type: ignore[attr-defined]


class Group(Closing):
    """A new group below `root`, until it is closed."""

    def __init__(self, root: str, v2: bool) -> None:
        self.v2 = v2
        self.path = tempfile.mkdtemp(prefix="mpg-test-", dir=root)

    def write(self, name: str, value: int) -> None:
        with open(os.path.join(self.path, name), "w", encoding="ascii") as file:
            file.write(str(value))

    def limit(self, usage: Optional[int], reserve: Optional[int]) -> None:
        """Large pages in use, and those reserved."""
        suffix = "max" if self.v2 else "limit_in_bytes"
        if usage is not None:
            self.write(f"hugetlb.2MB.{suffix}", usage * MIB2)
        if reserve is not None:
            self.write(f"hugetlb.2MB.rsvd.{suffix}", reserve * MIB2)

    def enter(self) -> None:
        """This process; for preexec_fn."""
        self.write("cgroup.procs", os.getpid())

    def peak(self, names: tuple[str, ...] = HUGETLB_PEAKS) -> int:
        """Most bytes at once; -1 where the kernel does not count them."""
        for name in names:
            with contextlib.suppress(OSError):
                return int(split_words(self.path, name)[0])
        return -1

    def close(self) -> None:
        deadline = time.monotonic() + 60
        while True:  # what the program left behind may be about to end
            try:
                return os.rmdir(self.path)
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)


def find(controller: str) -> tuple[str, bool]:
    """The mount with memory or pids, and whether it is v2."""
    place = find_v1(controller)
    if place:
        return place, False
    for place, kind, _ in mounts():
        if kind == "cgroup2" and controller in split_words(place, "cgroup.subtree_control"):
            return place, True
    raise OSError(f"no control groups for {controller} on this machine")


@contextlib.contextmanager
def group(controller: str, limit: int) -> Iterator[Group]:
    """A group with at most that much memory and no swap, or at most that many processes."""
    with Group(*find(controller)) as made:
        made.write(LIMITS[controller, made.v2], limit)
        if controller == "memory":
            made.write(*NO_SWAP[made.v2])
        yield made


class Hierarchy(Closing):
    """Where groups with limits on large pages can be made; mounted if need be."""

    def __init__(self, wants_v2: bool = False) -> None:
        self.mounted: Optional[str] = None
        self.enabled: Optional[str] = None
        self.v2 = False
        if wants_v2:
            self.root = self._await_v2()
            return
        # v1 first: it knows the peak. It is refused while v2 is in use. A mount of
        # our own: another test's goes when that test ends.
        root = self._mount_v1() or find_v1("hugetlb") or self._find_v2()
        if not root:
            raise OSError("no hugetlb cgroup on this machine")
        self.root = root

    def _await_v2(self) -> str:
        """Another test may have it in v1 for a moment."""
        deadline = time.monotonic() + 300
        while True:
            with contextlib.suppress(OSError):
                root = self._find_v2()
                if root:
                    return root
            if time.monotonic() > deadline:
                raise OSError("no hugetlb cgroup v2 on this machine")
            time.sleep(0.1)

    def group(self) -> Group:
        return Group(self.root, self.v2)

    def _mount_v1(self) -> Optional[str]:
        place = tempfile.mkdtemp(prefix="hugetlb-cgroup-")
        done = subprocess.run(["mount", "-t", "cgroup", "-o", "hugetlb", "none", place],
                              stderr=subprocess.DEVNULL, check=False)
        if done.returncode:
            os.rmdir(place)
            return None
        self.mounted = place
        return place

    def _find_v2(self) -> Optional[str]:
        for place, kind, _ in mounts():
            if kind != "cgroup2" or "hugetlb" not in split_words(place, "cgroup.controllers"):
                continue
            control = os.path.join(place, "cgroup.subtree_control")
            if "hugetlb" not in split_words(control):
                with open(control, "w", encoding="ascii") as file:
                    file.write("+hugetlb")
                self.enabled = control
            self.v2 = True
            return place
        return None

    def close(self) -> None:
        if self.mounted:
            # Lazily: where it cannot be mounted twice another test may be in it.
            subprocess.run(["umount", "-l", self.mounted], check=False)
            os.rmdir(self.mounted)
        if self.enabled:
            with contextlib.suppress(OSError):  # another test has groups in it
                with open(self.enabled, "w", encoding="ascii") as file:
                    file.write("-hugetlb")


def features() -> set[str]:
    """The features for lit's tests of limits that this machine has."""
    found = set()
    if any(kind == "cgroup2" and "hugetlb" in split_words(place, "cgroup.controllers")
           for place, kind, _ in mounts()):
        found.add("hugetlb-cgroup-v2")
    with contextlib.suppress(OSError):
        with group("memory", 1 << 30):
            found.add("memory-cgroup")
    with contextlib.suppress(OSError), Hierarchy() as hierarchy, hierarchy.group() as made:
        found.add("hugetlb-cgroup")
        if made.peak() != -1:
            found.add("hugetlb-peak")
    return found
