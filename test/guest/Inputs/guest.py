"""Boots a machine of four NUMA nodes and runs cases in it, in one boot.

The guest is an emulated A64FX, or with --machine=x86_64 qemu's `max`, with one CPU, 512 MiB and 96
large pages of 2 MiB on each of nodes 0 to 3. --root is its file system; the kernel and busybox come
from --packages (see fetch). Each --disk is a disk (vda, vdb), and --share a folder by 9p, whose tag
is `share`. FILE is a shell script that may use

    begin NAME            starts a case; prints `CASE NAME`
    pool N0 N1 N2 N3      large pages on each node from here on

and is run by busybox's shell. What the cases print goes to standard output.
Exit status: 0 if the script came to its end; 1 if the kernel panicked, the
machine stopped before, or the time was up.
"""

import argparse
import os
import stat
import subprocess
import sys
from typing import List

sys.path.append(os.path.join(os.path.dirname(__file__), "../../lib"))
from mpgtest.options import parse  # noqa: E402

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /tmp /dev/shm
mount -t tmpfs tmpfs /tmp
pool() {
  node=0
  for pages in "$@"; do
    folder=/sys/devices/system/node/node$node/hugepages/hugepages-2048kB
    echo $pages > $folder/nr_hugepages
    node=$((node + 1))
  done
}
begin() { echo "CASE $*"; }
# Without root's rights.
as_user() {
  program=$1
  shift
  start-stop-daemon -S -c user:user -x "/bin/$program" -- "$@"
}
pool 96 96 96 96
. /cases
echo "END OF CASES"
poweroff -f
"""


def cpio_entry(name: str, mode: int, data: bytes, number: int) -> bytes:
    """One file of a `newc` archive."""
    path = name.encode() + b"\0"
    fields = [number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(path), 0]
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + path
    head += b"\0" * (-len(head) % 4)
    return head + data + b"\0" * (-len(data) % 4)


def archive(files: List[tuple]) -> bytes:
    parts = [cpio_entry(*file, number) for number, file in enumerate(files, 1)]
    parts.append(cpio_entry("TRAILER!!!", 0, b"", 0))
    return b"".join(parts)


def read_root(root: str) -> List[tuple]:
    """All of the folder: names, modes, contents. Symbolic links become files."""
    files = []
    for folder, folders, names in os.walk(root, followlinks=True):
        inside = os.path.relpath(folder, root)
        for name in sorted(folders):
            path = os.path.normpath(os.path.join(inside, name))
            files.append((path, stat.S_IFDIR | 0o755, b""))
        for name in sorted(names):
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
            path = os.path.normpath(os.path.join(inside, name))
            files.append((path, stat.S_IFREG | 0o755, data))
    return files


def make_initramfs(options: argparse.Namespace, path: str) -> None:
    with open(os.path.join(options.packages, "busybox"), "rb") as file:
        busybox = file.read()
    with open(options.cases, "rb") as file:
        cases = file.read()
    files = [(name, stat.S_IFDIR | 0o755, b"") for name in ("proc", "sys", "dev")]
    if not os.path.isdir(os.path.join(options.root, "bin")):
        files.append(("bin", stat.S_IFDIR | 0o755, b""))
    files += read_root(options.root)
    files.append(("bin/busybox", stat.S_IFREG | 0o755, busybox))
    files.append(("cases", stat.S_IFREG | 0o644, cases))
    files.append(("init", stat.S_IFREG | 0o755, INIT.encode()))
    # Not compressed: the emulated machine would take seconds to unpack it.
    with open(path, "wb") as file:
        file.write(archive(files))


MACHINES = {
    "aarch64": ("virt,gic-version=3", "a64fx", 4, "ttyAMA0"),
    # On a busy machine the emulated timer is late: a panic where it is checked.
    "x86_64": ("q35", "max", 2, "ttyS0 no_timer_check"),
}


def command(options: argparse.Namespace, initramfs: str) -> List[str]:
    board, cpu, cpus, console = MACHINES[options.machine]
    words = [f"qemu-system-{options.machine}", "-M", board, "-cpu", cpu]
    words += ["-smp", str(cpus), "-m", "2048", "-accel", "tcg,thread=multi"]
    for node in range(4):
        words += ["-object", f"memory-backend-ram,id=m{node},size=512M"]
        has = f",cpus={node}" if node < cpus else ""
        words += ["-numa", f"node,nodeid={node},memdev=m{node}{has}"]
    words += ["-kernel", os.path.join(options.packages, "vmlinuz")]
    words += ["-initrd", initramfs, "-nographic", "-no-reboot", "-nic", "none"]
    for disk in options.disk:
        words += ["-drive", f"file={disk},format=raw,if=virtio,cache=unsafe"]
    if options.share:
        words += ["-virtfs", f"local,path={options.share},mount_tag=share,security_model=none"]
    # quiet: the kernel's own lines would fall between those of the cases.
    kernel = f"console={console} quiet panic=-1 numa_balancing=disable"
    return words + ["-append", kernel]


def run(options: argparse.Namespace) -> int:
    initramfs = options.root.rstrip("/") + ".cpio"
    make_initramfs(options, initramfs)
    try:
        done = subprocess.run(
            command(options, initramfs),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=options.timeout,
        )
        text, stopped = done.stdout, f"the machine stopped (status {done.returncode})"
    except subprocess.TimeoutExpired as late:
        text, stopped = late.stdout or b"", f"not done after {options.timeout} s"
    finally:
        os.unlink(initramfs)
    lines = text.decode(errors="replace").replace("\r", "").splitlines()
    print("\n".join(lines))
    if any("Kernel panic" in line for line in lines):
        stopped = "the kernel panicked"
    elif "END OF CASES" in lines:
        return 0
    print(f"guest.py: {stopped}")
    return 1


sys.exit(run(parse(__doc__, packages=str, root=str, cases=str, timeout=300, disk=[], share=None,
                   machine={"choices": MACHINES, "default": "aarch64"})))
