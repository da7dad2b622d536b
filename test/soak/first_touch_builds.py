# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles small programs for this machine, with the pass plugin or without.

A program is one folder: its sources, objects and what the compiler saved of its
remarks. Several sources are linked with full LTO, so that the pass sees an
allocation in one and its use in another.
"""

import argparse
import pathlib
import shutil
from typing import Dict, List

from first_touch_remarks import Remark, read_remarks
from mpgtest.run import output

COMMAND_SECONDS = 120


class Program:
    """One program. options has clang, flang, lld, link_flag, plugin, mode."""

    def __init__(self, language: str, sources: Dict[str, str],
                 folder: pathlib.Path, flags: List[str], plugin: bool,
                 options: argparse.Namespace) -> None:
        self.language, self.folder, self.options = language, folder, options
        self.names, self.flags, self.plugin = list(sources), flags, plugin
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name, text in sources.items():
            (folder / name).write_text(text)

    def compiler(self) -> List[str]:
        if self.language == "fortran":
            return [self.options.flang, *self.flags]
        mode = ["--driver-mode=g++"] if self.language == "c++" else []
        return [self.options.clang, *mode, *self.flags]

    def compile(self) -> None:
        words = ["-flto"] if len(self.names) > 1 else []
        if self.plugin:
            words += [f"-fpass-plugin={self.options.plugin}",
                      "-fsave-optimization-record",
                      "-foptimization-record-passes=mpg"]
        for name in self.names:
            self.run([*self.compiler(), *words, "-c", name, "-o", f"{name}.o"])

    def link(self, output: str, more: List[str]) -> None:
        words = self.compiler()
        if len(self.names) > 1:
            words += ["-flto", f"-fuse-ld={self.options.lld}"]
            if self.plugin:
                words += [f"-Wl,--load-pass-plugin={self.options.plugin}",
                          "-Wl,--plugin-opt=opt-remarks-filename="
                          f"{output}.opt.yaml",
                          "-Wl,--plugin-opt=opt-remarks-passes=mpg"]
        self.run([*words, *(f"{name}.o" for name in self.names), *more,
                  *self.options.link_flag, "-o", output])

    def run(self, command: List[str]) -> None:
        environment = {}
        if self.plugin and self.options.mode != "on":
            environment["MPG_PASS_OPTIONS"] = ("first-touch=" + self.options.mode)
        output(command, environment, self.folder, COMMAND_SECONDS)

    def remarks(self) -> List[Remark]:
        return read_remarks(sorted(self.folder.glob("*.opt.yaml")))

    def output(self, name: str, environment: Dict[str, str]) -> str:
        return output([self.folder / name],
                      {"OMP_NUM_THREADS": "4", **environment}, self.folder,
                      COMMAND_SECONDS)
