"""take_pages.py N: maps N pages of 2 MiB of the pool; status 1 if it cannot."""

import mmap
import sys

MAP_HUGETLB, MAP_HUGE_2MB = 0x40000, 21 << 26
try:
    mmap.mmap(
        -1,
        int(sys.argv[1]) << 21,
        flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_HUGETLB | MAP_HUGE_2MB,
    )
except OSError as error:
    print(f"take_pages.py: {error}", file=sys.stderr)
    sys.exit(1)
