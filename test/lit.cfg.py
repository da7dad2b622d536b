# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# lit configuration of all suites. A feature that the machine lacks makes a test
# UNSUPPORTED; `quickstart --test` installs everything that can be installed.

import ctypes
import errno
import os
import re
import resource
import runpy
import shutil
import struct
import subprocess
import sys
import tempfile

site = runpy.run_path(lit_config.params["site"])
build = site["mpg_build"]
llvm = site["llvm_tools"]

config.name = "mpgtools"
sys.path[:0] = [os.path.join(site["mpg_source"], "test", name) for name in ("lib", "tools")]
from shared_machine import SharedMachineTest  # noqa: E402

config.test_source_root = os.path.join(site["mpg_source"], "test")
config.test_exec_root = lit_config.params.get("exec_root", os.path.join(build, "test", "lit"))
# Where the same tests run in another build, too, one in so many is enough.
config.test_format = SharedMachineTest(
    site["mpg_source"], build, config.test_exec_root, site["seed"], site["one_in"],
    int(lit_config.params.get("one_in", site["runs_all"])))
config.samples = []
config.needs = []
config.suffixes = [".test", ".c", ".cpp", ".s", ".yaml"]
config.excludes = ["Inputs", "demo"]

# FileCheck, not, yaml2obj, llvm-mc and the project's own programs come first, and
# the python3 behind a shim; gcc, ld.bfd, mold and readelf are the machine's.
folders = [os.path.join(build, "bin"), llvm]
# By qemu (tools/as_aarch64): its compilers before the machine's own.
machine = site["machine"]
if machine:
    folders.insert(1, os.path.join(machine, "bin"))
if os.path.dirname(site["python"]) not in os.environ["PATH"].split(os.pathsep):
    folders.append(os.path.dirname(site["python"]))
config.environment["PATH"] = os.pathsep.join(folders + [os.environ["PATH"]])
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "NO_COLOR", "HOME", "TMPDIR"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# A test of the core that uses the lab, too, is skipped in a build without it.
if site["has_lab"]:
    config.available_features.add("lab")

# Whether this build has sanitizers: a few tests compare what those change.
with open(os.path.join(build, "bin", "mpgaudit"), "rb") as file:
    program = file.read()
config.mpg_thread_sanitizer = b"__tsan_init" in program
config.mpg_sanitized = b"__asan_init" in program or config.mpg_thread_sanitizer
if config.mpg_sanitized:
    config.available_features.add("sanitizers")

config.substitutions.append(("%mpgaudit", os.path.join(build, "bin", "mpgaudit")))
config.substitutions.append(("%mpginfo", os.path.join(build, "bin", "mpginfo")))
config.substitutions.append(("%ldmpg", os.path.join(build, "bin", "ld.mpg")))
config.substitutions.append(("%mpgrun", os.path.join(build, "bin", "mpgrun")))
config.substitutions.append(("%libmpg", os.path.join(build, "lib", "libmpgrt.so")))
config.substitutions.append(("%build", build))
config.substitutions.append(("%seed", str(site["seed"])))
# Without site packages: few tests need them, and every start of Python would search for them.
python = f"{site['python']} -S"
config.substitutions.append(("%python", python))
config.substitutions.append(("%pip", f"{site['python']} -m pip"))
config.substitutions.append(("%cmake", site["cmake"]))
# `%status N COMMAND...` succeeds if COMMAND ends with exactly that status.
config.substitutions.append(("%status", os.path.join(build, "test", "mpg-status")))
# A program of libmpg's in qemu. With all addresses of four times the machine's memory to
# choose from, as the heap does, qemu makes tables for a second and in 600 MB.
limit = "prlimit --as=34359738368"
config.substitutions.append(("%qemu", f"{limit} qemu-aarch64 -L /usr/aarch64-linux-gnu"))
config.substitutions.append(("%source", site["mpg_source"]))
config.substitutions.append(("%tools", os.path.join(site["mpg_source"], "test", "tools")))

# Programs that a test may need; the feature has the program's name.
programs = """
    gcc clang-22 ld.lld-22 ld.mpg flang-22 aarch64-linux-gnu-g++ ld.gold mold
    aarch64-linux-gnu-gcc qemu-aarch64 scanelf setpriv gfortran aarch64-linux-gnu-gfortran
    pkg-config make ninja fpm dpkg-deb gdb valgrind bash go java javac ccache distcc distccd
    icecc sccache clang-scan-deps-22 csmith mpicc mpirun mpicc.mpich mpicc.openmpi
    mpirun.mpich numactl perf rustc musl-gcc strace qemu-system-aarch64 qemu-system-x86_64
    patchelf zsh fish man git
""".split()
# The first CMake that builds C++20's modules.
if tuple(map(int, site["cmake_version"].split(".")[:2])) >= (3, 28):
    config.available_features.add("cmake-3.28")
# Tests that inspect a running program would see qemu instead; qemu has a single user; and musl
# is there for this machine alone.
if machine:
    config.available_features.add("emulated")
    for name in ("distccd", "gdb", "musl-gcc", "perf", "setpriv", "strace", "valgrind"):
        programs.remove(name)
for program in programs:
    if shutil.which(program, path=config.environment["PATH"]):
        config.available_features.add(program)
# Root of an unprivileged container cannot switch users, which distccd does, and lacks root's rights.
if os.geteuid() == 0 and "setpriv" in config.available_features:
    if subprocess.run(
        ["setpriv", "--reuid=65534", "--clear-groups", "true"],
        stderr=subprocess.DEVNULL,
    ).returncode == 0:
        config.available_features.add("root")
    else:
        config.available_features -= {"setpriv", "distccd"}
# Void on file systems mounted with nosuid, and where no process may gain rights.
if "root" in config.available_features:
    os.makedirs(config.test_exec_root, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=config.test_exec_root) as folder:
        os.chmod(folder, 0o755)
        copy = shutil.copy(shutil.which("id"), folder)
        given = subprocess.run(["chown", "65534", copy], stderr=subprocess.DEVNULL)
        if given.returncode == 0:
            os.chmod(copy, 0o4755)
            shown = subprocess.run([copy, "-u"], stdout=subprocess.PIPE).stdout
            if shown == b"65534\n":
                config.available_features.add("set-user-id")
# Forbidden in many containers, and in a chroot.
if shutil.which("unshare") and all(
    subprocess.run(["unshare", options, "true"], stderr=subprocess.DEVNULL).returncode
    == 0 for options in ("-m", "-rm")
):
    config.available_features.add("mount-namespace")
if shutil.which("unshare") and subprocess.run(
    ["unshare", "--cgroup", "--mount", "mount", "-t", "tmpfs", "none", "/sys/fs/cgroup"],
    stderr=subprocess.DEVNULL).returncode == 0:
    config.available_features.add("cgroup-namespace")
# A pool of large pages for the tests, shared or for one alone (tools/pool.py).
pool = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
if os.path.exists(pool):
    with open(pool, encoding="ascii") as file:
        if int(file.read()) >= 512:
            config.available_features.add("hugetlb")
thp = "/sys/kernel/mm/transparent_hugepage/enabled"
if os.path.exists(thp) and "[never]" not in open(thp, encoding="ascii").read():
    config.available_features.add("thp")
libc = ctypes.CDLL(None, use_errno=True)
# Calls that a system call filter may forbid: ptrace, the kernel's counters, placing pages and
# asking where they are (Docker forbids these four), memory files. Tests that need them are skipped.
child = os.fork()
if child == 0:
    os._exit(0 if libc.ptrace(0, 0, None, None) == 0 else 1)  # PTRACE_TRACEME
may = {"ptrace": os.waitpid(child, 0)[1] == 0}
number, move_pages = {"x86_64": (298, 279), "aarch64": (241, 239)}.get(os.uname().machine, (0, 0))
may["numa-calls"] = move_pages and libc.syscall(move_pages, 0, 0, 0, 0, 0, 0) == 0
page_faults = struct.pack("IIQQQQQIIQ", 1, 64, 2, 0, 0, 0, 1 << 5, 0, 0, 0)
counter = libc.syscall(number, page_faults, 0, -1, -1, 0) if number else -1
may["perf-events"] = counter >= 0
try:
    memory = os.memfd_create("probe")
    may["memfd"] = True
except OSError:
    memory, may["memfd"] = -1, False
try:  # CONFIG_PROC_PAGE_MONITOR
    with open("/proc/self/clear_refs", "wb", buffering=0) as file:
        may["accessed-bits"] = file.write(b"1") == 1
except OSError:
    may["accessed-bits"] = False
for file_number in (counter, memory):
    if file_number >= 0:
        os.close(file_number)
config.available_features.update(name for name in may if may[name])
for needed, name in (("ptrace", "gdb"), ("ptrace", "strace"), ("perf-events", "perf")):
    if not may[needed]:
        config.available_features.discard(name)
# io_uring_setup without a place for its answer: told so, it is there and allowed.
# Its fixed buffers count as locked memory, of which containers have little.
with open("/proc/self/status", encoding="ascii") as file:
    rights = int(re.search(r"^CapEff:\s*(\w+)$", file.read(), re.MULTILINE).group(1), 16)
locked = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
may_lock = rights >> 14 & 1 or locked == resource.RLIM_INFINITY or locked >= 128 << 20
if libc.syscall(425, 1, 0) == -1 and ctypes.get_errno() == errno.EFAULT and may_lock:
    config.available_features.add("io_uring")
host = "aarch64" if machine else os.uname().machine
config.available_features.add("host-" + host)
if os.path.exists(os.path.join(build, "aarch64", "lib", "libmpgrt.so")):
    config.available_features.add("aarch64-runtime")
if os.path.exists(os.path.join(build, "lib", "MpgPasses.so")) and os.path.exists(
        os.path.join(site["plugin_llvm"], "clang")):
    config.available_features.add("pass-plugin")
# Some measuring and long programs find the build by its place.
if os.path.basename(build) == "build":
    config.available_features.add("preset-dev")
clang = os.path.realpath(shutil.which("clang-22") or "/")
if os.path.exists(os.path.join(os.path.dirname(clang), "..", "lib", "libomp.so")):
    config.available_features.add("libomp")
for module, name in (("jsonschema", "python-jsonschema"), ("pip", "pip")):
    if subprocess.run([site["python"], "-c", f"import {module}"],
                      stderr=subprocess.DEVNULL).returncode == 0:
        config.available_features.add(name)
# The official schema, which quickstart fetches (test/tools/sarif_schema); one
# for all builds.
schema = os.path.join(site["mpg_source"], "build", "sarif-2.1.0.json")
if os.path.exists(schema):
    config.available_features.add("sarif-schema")
config.substitutions.append(("%sarif_schema", schema))
# Packages that quickstart fetches (test/tools/test_python); for all builds.
packages = os.path.join(site["mpg_source"], "build", "test-python")
if os.path.isdir(packages):
    config.available_features.add("test-python")
config.substitutions.append(("%test_python", packages))
