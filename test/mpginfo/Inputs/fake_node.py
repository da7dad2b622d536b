"""Makes the part of /proc, /sys, /dev and /opt of a node that mpginfo reads.

    fake_node.py KIND FOLDER [PATH=TEXT | -PATH]...

KIND is fx1000, fx700 or x86. Further arguments change the tree: PATH=TEXT replaces a file (\\n is a
new line), -PATH removes a file or folder.
"""

import os
import shutil
import struct
import sys
from typing import Dict, List, Tuple

MIDR_A64FX = "0x00000000461f0010"
HUGE = "sys/kernel/mm/hugepages/hugepages-"
NODES = "sys/devices/system/node/node"
THP = "sys/kernel/mm/transparent_hugepage/"


def pool(folder: str, total: int, free: int, overcommit: int = -1) -> Dict[str, str]:
    """The files of a pool; those of a node have no overcommit."""
    files = {"nr_hugepages": total, "free_hugepages": free, "surplus_hugepages": 0}
    if overcommit >= 0:
        files.update({"resv_hugepages": 0, "nr_overcommit_hugepages": overcommit})
    return {f"{folder}/{name}": str(value) for name, value in files.items()}


def numa_node(
    number: int,
    cpus: str,
    memory: int,
    free: int,
    total_pages: int = 0,
    free_pages: int = 0,
) -> Dict[str, str]:
    """Memory in MiB, pages of 2 MiB in the pool."""
    folder = NODES + str(number)
    meminfo = f"Node {number} MemTotal: {memory << 10} kB\n"
    meminfo += f"Node {number} MemFree:  {free << 10} kB\n"
    return {
        f"{folder}/cpulist": cpus,
        f"{folder}/meminfo": meminfo,
        f"{folder}/distance": "10 20 30 30",
        **pool(f"{folder}/hugepages/hugepages-2048kB", total_pages, free_pages),
    }


def buddy(rows: List[Tuple[int, str, Dict[int, int]]], orders: int) -> str:
    """/proc/buddyinfo: node, zone, free blocks by order."""
    text = ""
    for node, zone, blocks in rows:
        counts = "".join(f" {blocks.get(order, 0):6}" for order in range(orders))
        text += f"Node {node}, zone {zone:>8}{counts}\n"
    return text


def common(page: int, total: int, available: int, default_huge: int) -> Dict[str, str]:
    """Sizes in KiB."""
    limits = ("Limit                     Soft Limit           Hard Limit           Units\n")
    for name, value in (
        ("stack size", 8388608),
        ("locked memory", "unlimited"),
        ("address space", "unlimited"),
    ):
        limits += f"Max {name:<22}{value:<21}{'unlimited':<21}bytes\n"
    return {
        "proc/self/auxv": struct.pack("<6Q", 6, page << 10, 17, 100, 0, 0).decode(
            "latin-1"
        ),
        "proc/self/limits": limits,
        "proc/meminfo": f"MemTotal: {total} kB\nMemAvailable: {available} kB\n"
        f"Hugepagesize: {default_huge} kB\n",
        "proc/sys/kernel/numa_balancing": "0",
        THP + "enabled": "always [madvise] never",
        THP + "defrag": "always defer defer+madvise [madvise] never",
        THP + "shmem_enabled": "always within_size advise [never] deny force",
        THP + "khugepaged/defrag": "1",
        THP + "khugepaged/pages_to_scan": "4096",
        THP + "khugepaged/scan_sleep_millisecs": "10000",
        THP + "khugepaged/max_ptes_none": "511",
    }


def status(nodes: str, cpus: str) -> str:
    return f"Name: x\nTHP_enabled: 1\nCpus_allowed_list: {cpus}\nMems_allowed_list: {nodes}\n"


def groups_v1(controller: str) -> Dict[str, str]:
    """The process is in /job/step of a separate hierarchy."""
    mount = f"30 25 0:26 / /sys/fs/cgroup/{controller} rw,nosuid shared:9 - cgroup cgroup rw,{controller}\n"
    return {
        "proc/self/cgroup": f"4:cpuset:/\n7:{controller}:/job/step\n",
        "proc/self/mountinfo": mount,
    }


def groups_v2() -> Dict[str, str]:
    mount = "31 25 0:27 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
    return {
        "proc/self/cgroup": "0::/job/step\n",
        "proc/self/mountinfo": mount,
        "sys/fs/cgroup/cgroup.controllers": "cpuset cpu memory hugetlb pids",
    }


def a64fx(host: str, first_node: int, first_cpu: int) -> Dict[str, str]:
    """64 KiB pages; 512 MiB is the default large page, as arm64 has it."""
    last = first_cpu + 47
    files = common(64, 32 << 20, 28 << 20, 512 << 10)
    files.update(pool(HUGE + "2048kB", 0, 0, 0))
    files.update(pool(HUGE + "524288kB", 0, 0, 0))
    files.update(pool(HUGE + "16777216kB", 0, 0, 0))
    blocks = []
    for group in range(4):
        cpu = first_cpu + 12 * group
        node = first_node + group
        files.update(numa_node(node, f"{cpu}-{cpu + 11}", 8192, 7000))
        # 13 blocks of 512 MiB, 5 of 2 MiB; 9 of 1 MiB are too small.
        blocks.append((node, "Normal", {13: 13, 5: 5, 4: 9}))
    files.update(
        {
            "proc/buddyinfo": buddy(blocks, 14),
            "proc/cpuinfo": "processor : 0\nCPU implementer : 0x46\nCPU part : 0x001\n",
            "proc/self/status": status(
                f"{first_node}-{first_node + 3}", f"{first_cpu}-{last}"
            ),
            "proc/sys/kernel/hostname": host,
            "proc/sys/kernel/osrelease": "4.18.0-305.el8.aarch64",
            "sys/devices/system/cpu/cpu0/regs/identification/midr_el1": MIDR_A64FX,
            "sys/devices/system/cpu/online": f"0-{last}",
            "sys/devices/system/cpu/smt/control": "notsupported",
            THP + "hpage_pmd_size": "536870912",
        }
    )
    files.update(groups_v1("hugetlb"))
    return files


def fx1000() -> Dict[str, str]:
    files = a64fx("fx1000", 4, 12)
    for node, cpus in enumerate(("0-2", "3-5", "6-8", "9-11")):
        files.update(numa_node(node, cpus, 1024, 500))
    files["proc/buddyinfo"] += buddy([(0, "Normal", {13: 1})], 14)
    files["opt/FJSVxos/mmm/lib64/libmpg.so.1"] = ""
    files["opt/FJSVxos/fhehpc/bin/fhetbo"] = ""
    files["dev/xos_sec_normal"] = ""
    return files


def fx700() -> Dict[str, str]:
    files = a64fx("fx700", 0, 0)
    files["dev/fujitsu_hwb"] = ""
    return files


def x86() -> Dict[str, str]:
    files = common(4, 64 << 20, 60 << 20, 2048)
    files.update(pool(HUGE + "2048kB", 1024, 1000, 0))
    files.update(pool(HUGE + "1048576kB", 0, 0, 0))
    for node, cpus in enumerate(("0-15", "16-31")):
        files.update(numa_node(node, cpus, 32768, 30000, 512, 500))
    # Of 4 KiB pages: 2 x 100 + 7 large pages on node 0, 2 x 50 on node 1.
    files.update(
        {
            "proc/buddyinfo": buddy(
                [(0, "Normal", {10: 100, 9: 7, 8: 99}), (1, "Normal", {10: 50})], 11
            ),
            "proc/cpuinfo": "processor : 0\nvendor_id : GenuineIntel\nmodel name : Fake CPU\nflags : fpu sse\n",
            "proc/self/status": status("0-1", "0-31"),
            "proc/sys/kernel/hostname": "pc",
            "proc/sys/kernel/osrelease": "6.8.0-31-generic",
            "sys/devices/system/cpu/online": "0-31",
            "sys/devices/system/cpu/smt/control": "off",
            "sys/devices/system/cpu/cpufreq/policy0/scaling_governor": "performance",
            THP + "hpage_pmd_size": "2097152",
            THP + "hugepages-64kB/enabled": "always inherit madvise [never]",
            THP + "hugepages-2048kB/enabled": "always [inherit] madvise never",
        }
    )
    files.update(groups_v2())
    return files


def make(kind: str, root: str, changes: List[str]) -> None:
    files = {"fx1000": fx1000, "fx700": fx700, "x86": x86}[kind]()
    for change in changes:
        if not change.startswith("-"):
            path, _, text = change.partition("=")
            files[path] = text.replace("\\n", "\n")
    for path, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
        with open(os.path.join(root, path), "wb") as file:
            file.write(text.encode("latin-1") + (b"" if path.endswith("auxv") else b"\n"))
    for change in changes:
        if change.startswith("-"):
            path = os.path.join(root, change[1:])
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)


if __name__ == "__main__":
    make(sys.argv[1], sys.argv[2], sys.argv[3:])
