# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernel makes transparent huge pages from free memory in pieces of that size. If other
processes have left few of these, it makes more when asked to compact."""

from __future__ import annotations

import mmap

NOT_TESTABLE = "not testable here"
TRIES = 5  # of what needs transparent pages, after the first


def compact() -> None:
    try:
        with open("/proc/sys/vm/compact_memory", "w") as file:
            file.write("1")
    except OSError:
        pass  # not root: the kernel compacts by itself, if later


def can_have_transparent_pages(count: int) -> bool:
    """Whether the kernel now gives that many pages of 2 MiB to memory that asks for them."""
    large = 2 << 20
    with mmap.mmap(-1, (count + 1) * large, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(mmap.MADV_HUGEPAGE)
        for at in range(0, len(memory), 4096):
            memory[at] = 1
        with open("/proc/self/smaps_rollup", encoding="ascii") as file:
            kib = [int(line.split()[1]) for line in file if line.startswith("AnonHugePages:")]
    return sum(kib) >= count * 2048
