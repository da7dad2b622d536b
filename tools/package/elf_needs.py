# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The needs of a program from the system that it runs on, as readelf prints them."""

import os
import re
import subprocess
import sys
from typing import List, NamedTuple, Tuple

# Machines as releases and wheels name them.
MACHINES = {"Advanced Micro Devices X86-64": "x86_64", "AArch64": "aarch64"}
# Libraries of every system with the C library, also before 2.34, when threads
# were a separate library. libstdc++ is not among them, because its versions
# would have to be checked as well.
C_LIBRARY = re.compile(
    r"(libc|libm|libdl|librt|libpthread)\.so\.6|lib(dl|pthread)\.so\.0|"
    r"lib(dl|rt)\.so\.[12]|ld-linux.*\.so\.\d")


class Needs(NamedTuple):
    machines: List[str]   # as readelf names them; of an archive those of all members
    libraries: List[str]
    folders: List[str]    # RPATH and RUNPATH, one entry for each
    versions: List[str]   # of symbols: GLIBC_2.34


def read_needs(path: str) -> Needs:
    """Raises ValueError, with readelf's words, for anything but an ELF file."""
    result = subprocess.run(["readelf", "-hdVW", path], text=True,
                            env=dict(os.environ, LC_ALL="C"),
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    machines = re.findall(r"(?m)^ *Machine: +(.*)$", result.stdout)
    if result.returncode or not machines:
        raise ValueError(result.stderr.strip())
    return Needs(
        sorted(set(machines)),
        re.findall(r"\(NEEDED\).*\[(.*)\]", result.stdout),
        re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", result.stdout),
        sorted(set(re.findall(r"Name: (\S+)  Flags", result.stdout))))


def parse_glibc(version: str) -> Tuple[int, ...]:
    """The C library that has it: (2, 34) for GLIBC_2.34; () if it is another's."""
    if version == "GLIBC_PRIVATE":  # of one build alone
        return (sys.maxsize,)
    if version == "GLIBC_ABI_DT_RELR":
        return (2, 36)
    if not re.fullmatch(r"GLIBC_[0-9.]+", version):
        return ()
    return tuple(int(number) for number in version[len("GLIBC_"):].split("."))
