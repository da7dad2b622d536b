#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""peak_memory.py LIBMPG COMMAND...: how much memory COMMAND takes at most.

Prints the peaks of COMMAND plain and with LIBMPG preloaded, in MiB, and their ratio. The kernel
counts both: pool pages in a separate cgroup, as the maximum of all its processes together; other
memory as the resident memory of the largest one. The sum of two peaks may be more than the peak of
the sum, never less.

  pool 22 MiB, rest 49 MiB; without 65 MiB; ratio 1.09

The exit status is 2 where the kernel does not count the pool's peak.
"""

import os
import resource
import subprocess
import sys
import tempfile
from typing import Tuple

HERE = os.path.dirname(os.path.abspath(__file__))
MIB = 1 << 20


def run(command: list) -> Tuple[int, int]:
    """Bytes of the pool and of other memory. In a child, for the kernel's count
    of children begins anew there."""
    with tempfile.TemporaryDirectory() as folder:
        peak = os.path.join(folder, "peak")
        group = [sys.executable, os.path.join(HERE, "hugetlb_cgroup.py")]
        subprocess.run([*group, "--peak", peak, "--", *command], check=True)
        with open(peak, encoding="ascii") as file:
            pool = int(file.read())
    rest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
    return pool, rest


def in_child(command: list) -> Tuple[int, int]:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        pool, rest = run(command)
        os.write(writer, f"{pool} {rest}".encode())
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="ascii") as file:
        words = file.read().split()
    if os.waitpid(child, 0)[1] != 0 or len(words) != 2:
        sys.exit(1)
    return int(words[0]), int(words[1])


def main() -> int:
    library, command = sys.argv[1], sys.argv[2:]
    _, plain = in_child(command)
    pool, rest = in_child(["env", "LD_PRELOAD=" + library, *command])
    if pool < 0:
        print("peak_memory.py: the kernel does not count the peak of the pool")
        return 2
    ratio = (pool + rest) / plain
    print(f"pool {pool / MIB:.0f} MiB, rest {rest / MIB:.0f} MiB; "
          f"without {plain / MIB:.0f} MiB; ratio {ratio:.2f}")
    return 0


sys.exit(main())
