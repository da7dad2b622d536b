#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""held.py FILE COMMAND...: COMMAND runs while this process maps FILE, whose small pages are
in the page cache."""

import mmap
import os
import subprocess
import sys

file = os.open(sys.argv[1], os.O_RDONLY)
size = os.fstat(file).st_size
os.fsync(file)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
for at in range(0, size, 4096):
    os.pread(file, 1, at)
with mmap.mmap(file, size, mmap.MAP_PRIVATE, mmap.PROT_READ) as pages:
    sum(pages[::4096])
    sys.exit(subprocess.run(sys.argv[2:], check=False).returncode)
