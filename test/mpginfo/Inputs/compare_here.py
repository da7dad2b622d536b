"""compare_here.py MPGINFO: compares `MPGINFO --json` with this machine.

The expected values are read here from /proc and /sys, before and after; what
changed meanwhile (other programs use the pool) is tried again.
"""

import glob
import json
import os
import re
import resource
import subprocess
import sys
from typing import Dict

LARGE = 2 << 20


def read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


def limit(kind: int) -> object:
    soft = resource.getrlimit(kind)[0]
    return "unlimited" if soft == resource.RLIM_INFINITY else soft


def cut_out_of_free_memory() -> int:
    """2 MiB pages in blocks of at least that size."""
    order = (LARGE // resource.getpagesize()).bit_length() - 1
    pages = 0
    for line in read("/proc/buddyinfo").split("\n"):
        counts = [int(word) for word in line.split()[4:]]
        pages += sum(count << (at - order) for at, count in enumerate(counts) if at >= order)
    return pages


def expected() -> Dict[str, object]:
    values: Dict[str, object] = {
        "machine/host": os.uname().nodename,
        "machine/kernel": os.uname().release,
        "machine/cpus": os.sysconf("SC_NPROCESSORS_ONLN"),
        "pages/base_bytes": resource.getpagesize(),
        "pages/memory_bytes": 1024
        * int(re.search(r"MemTotal: +(\d+)", read("/proc/meminfo"))[1]),
        "pages/obtainable_pages": cut_out_of_free_memory(),
        "limits/stack_bytes": limit(resource.RLIMIT_STACK),
        "limits/address_space_bytes": limit(resource.RLIMIT_AS),
        "limits/locked_memory_bytes": limit(resource.RLIMIT_MEMLOCK),
        "numa/allowed_cpus": sorted(os.sched_getaffinity(0)),
    }
    pools = sorted(
        glob.glob("/sys/kernel/mm/hugepages/hugepages-*kB"),
        key=lambda path: int(re.search(r"(\d+)kB", path)[1]),
    )
    for number, path in enumerate(pools):
        for key, name in (
            ("total", "nr"),
            ("free", "free"),
            ("reserved", "resv"),
            ("surplus", "surplus"),
            ("overcommit", "nr_overcommit"),
        ):
            values[f"pages/pools/{number}/{key}"] = int(read(f"{path}/{name}_hugepages"))
    thp = "/sys/kernel/mm/transparent_hugepage/enabled"
    if os.path.exists(thp):
        values["transparent/enabled"] = re.search(r"\[(\w+)\]", read(thp))[1]
    return values


def lookup(document: object, path: str) -> object:
    for key in path.split("/"):
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


def main() -> int:
    differ: Dict[str, str] = {}
    values: Dict[str, object] = {}
    for _ in range(200):
        before = expected()
        text = subprocess.run([sys.argv[1], "--json"], stdout=subprocess.PIPE, check=False).stdout
        document, values = json.loads(text), expected()
        differ = {
            key: f"{lookup(document, key)!r}, not {value!r}"
            for key, value in values.items()
            if before[key] == value and lookup(document, key) != value
        }
        # Free memory changes all the time; it was right if it was right once.
        if not differ and before == values:
            break
    for key, what in differ.items():
        print(f"{key}: {what}")
    print(f"{len(values)} values, {len(differ)} differ")
    return 1 if differ else 0


sys.exit(main())
