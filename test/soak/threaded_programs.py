# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs with threads of Debian source packages that sim-programs compiles.

OpenMP in C, pthreads in C++: each prints the same however its threads run. They
are linked dynamically, with -fopenmp.
"""

from typing import List

from foreign_programs import BEFORE, PROSE, Package, Program, Run

THREADED = ["-pthread", "-fopenmp"]


def genes(count: int, length: int) -> str:
    """An alignment of pseudo-random DNA in which each differs from the one
    before in one of eight places."""
    state, lines = 20267, []
    bases: List[str] = ["ACGT"[place * place % 7 % 4] for place in range(length)]
    for number in range(count):
        for place in range(length):
            state = (state * 1103515245 + 12345) % (1 << 31)
            if state >> 16 & 7 == 0:
                bases[place] = "ACGT"[state >> 20 & 3]
        lines += [f">gene{number}", "".join(bases)]
    return "\n".join(lines) + "\n"


PACKAGES = [
    Package("fasttree", [
        Program("fasttree", ["fasttree.c"],
                [Run(["-nt", "-quiet", "-nopr"], genes(24, 300))],
                noise=r"(?m)^.*(OpenMP|seconds).*$")],
        flags=[*THREADED, "-DOPENMP"]),
    Package("pbzip2", [
        Program("pbzip2", ["*.cpp"],
                [Run(["-p4", "-b1", "-c"], PROSE * 20),
                 Run(["-p3", "-dc"], BEFORE)])],
        flags=[*THREADED, "-std=gnu++98", "-D_FILE_OFFSET_BITS=64",
               "-DUSE_STACKSIZE_CUSTOMIZATION"]),
]
LIBRARIES = ["-lbz2"]
