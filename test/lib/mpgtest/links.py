# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared by the matrices of links: kinds of files, and who compiles them."""

from __future__ import annotations

from mpgtest.run import Word, output

KINDS = {
    "pie": ["-fPIE", "-pie"],
    "no-pie": ["-fno-pie", "-no-pie"],
    "static": ["-static"],
    "static-pie": ["-fPIE", "-static-pie"],
    "shared": ["-fPIC", "-shared"],
}
MACHINES = ("x86-64", "aarch64")
LANGUAGES = ("c", "c++", "fortran")
LLVM_COMPILERS = {"c": "clang-22", "c++": "clang++-22", "fortran": "flang-22"}
GNU_COMPILERS = {"c": "gcc", "c++": "g++", "fortran": "gfortran"}


def compiler(machine: str, language: str = "c", gnu: bool = False) -> list[str]:
    cross = machine == "aarch64"
    if gnu:
        return [("aarch64-linux-gnu-" if cross else "") + GNU_COMPILERS[language]]
    target = ["--target=aarch64-linux-gnu"] if cross else []
    return [LLVM_COMPILERS[language], *target]


class Objects:
    """Each source compiled once for all links that take the same object."""

    def __init__(self, folder: Word) -> None:
        self.folder = folder
        self.made: dict[tuple[str, ...], str] = {}

    def of(self, command: list[str], source: Word) -> str:
        """`command` is a compiler and its flags, without -c."""
        key = (*command, str(source))
        if key not in self.made:
            path = f"{self.folder}/object-{len(self.made)}.o"
            output([*command, "-c", source, "-o", path])
            self.made[key] = path
        return self.made[key]
