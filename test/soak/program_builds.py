# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles programs for AArch64, with or without a pass plugin; runs them.

A build is one folder: the objects and programs of one package in one variant.
Every command can be printed for a user to type it again.
"""

import concurrent.futures
import dataclasses
import pathlib
import re
import resource
import shutil
import signal
import tempfile
from typing import Dict, List, Optional

from foreign_programs import BEFORE, FILE, Package, Program, Run
from mpgtest.run import OUT_OF_TIME, CommandError, output, run, shown

COMMAND_SECONDS = 300  # of processor time; by the clock, on a busy machine, longer
CLOCK_SECONDS = 10 * COMMAND_SECONDS
TARGET = ["--target=aarch64-linux-gnu", "-mcpu=a64fx"]
LANGUAGES = {".c": "c", ".cpp": "c++", ".cc": "c++", ".f": "fortran", ".f90": "fortran"}


@dataclasses.dataclass
class Compilers:
    clang: str
    flang: str
    archiver: str
    resources: str  # folder of flang's libraries for AArch64
    optimize: str
    linkage = ["-static"]

    def command(self, language: str) -> List[str]:
        if language == "fortran":
            return [self.flang, *TARGET, self.optimize, f"-resource-dir={self.resources}"]
        # Other people's warnings are not asked for.
        driver = ["--driver-mode=g++"] if language == "c++" else []
        return [self.clang, *driver, *TARGET, self.optimize, "-w", "-fno-crash-diagnostics"]


@dataclasses.dataclass
class Variant:
    """The flags and environment for the second build of everything."""

    name: str
    flags: List[str] = dataclasses.field(default_factory=list)
    environment: Dict[str, str] = dataclasses.field(default_factory=dict)


class Build:
    """The programs of one package, compiled in one variant."""

    def __init__(self, package: Package, tree: pathlib.Path,
                 folder: pathlib.Path, compilers: Compilers,
                 variant: Variant) -> None:
        self.package, self.tree, self.folder = package, tree, folder
        self.compilers, self.variant = compilers, variant
        self.sources: Dict[str, List[pathlib.Path]] = {}  # of each program

    def make(self, pool: concurrent.futures.Executor) -> Dict[str, Optional[CommandError]]:
        """For each program nothing, or what went wrong."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        for name, text in self.package.headers.items():
            (self.folder / name).write_text(text)
        library = self.files(self.package.library) + self.joined()
        own = {program.name: self.files(program.sources) for program in self.package.programs}
        jobs = {path: pool.submit(self.compile, path)
                for path in {*library, *(path for paths in own.values()
                                         for path in paths)}}
        concurrent.futures.wait(jobs.values())
        results: Dict[str, Optional[CommandError]] = {}
        for program in self.package.programs:
            results[program.name] = None
            try:
                for path in own[program.name] + library:
                    jobs[path].result()
                self.link(program.name, own[program.name], library)
            except CommandError as error:
                results[program.name] = error
        return results

    def files(self, patterns: List[str]) -> List[pathlib.Path]:
        left_out = {path for pattern in self.package.without for path in self.tree.glob(pattern)}
        found: List[pathlib.Path] = []
        for pattern in patterns:
            paths = sorted(self.tree.glob(pattern))
            if not paths:
                raise CommandError(f"{self.package.name}: no file is named "
                                   f"{pattern}; is it another version?")
            # Add files named individually even if a pattern excludes them.
            found += [path for path in paths if path not in left_out or "*" not in pattern]
        return found

    def joined(self) -> List[pathlib.Path]:
        paths = self.files(self.package.joined)
        if not paths:
            return []
        source = self.folder / f"joined{paths[0].suffix}"
        line = ("      include '{}'\n" if paths[0].suffix == ".f" else '#include "{}"\n')
        source.write_text("".join(line.format(path) for path in paths))
        return [source]

    def get_object(self, source: pathlib.Path) -> pathlib.Path:
        base = self.folder if source.is_relative_to(self.folder) else self.tree
        name = str(source.relative_to(base)).replace("/", "_")
        return self.folder / f"{name}.o"

    def compile_command(self, source: pathlib.Path) -> List[str]:
        language = LANGUAGES[source.suffix]
        command = self.compilers.command(language) + self.variant.flags
        if language == "fortran":
            command.append(f"-J{self.folder}")  # where modules are written
        else:
            command += self.package.flags + [f"-I{self.folder}"]
        return command + ["-c", str(source), "-o", str(self.get_object(source))]

    def compile(self, source: pathlib.Path) -> None:
        output(self.compile_command(source), self.variant.environment, self.tree, CLOCK_SECONDS)

    def link(self, name: str, own: List[pathlib.Path], library: List[pathlib.Path]) -> None:
        # An archive: some programs replace parts of the library.
        archive = self.folder / f"{name}.a"
        if library:
            self.run([self.compilers.archiver, "rcs", str(archive)]
                     + [str(self.get_object(path)) for path in library])
        spoken = {LANGUAGES[path.suffix] for path in own + library}
        language = ("fortran" if "fortran" in spoken else "c++" if "c++" in spoken else "c")
        self.run(self.compilers.command(language)
                 + ["-fuse-ld=lld", *self.compilers.linkage]
                 + [str(self.get_object(path)) for path in own]
                 + ([str(archive)] if library else [])
                 + ["-lm", "-lpthread", "-o", str(self.program(name))])
        self.sources[name] = own + library

    def commands(self, name: str) -> List[str]:
        return [shown(self.compile_command(path), self.variant.environment,
                      self.tree) for path in self.sources[name]]

    def objects(self, name: str) -> List[pathlib.Path]:
        return [self.get_object(path) for path in self.sources[name]]

    def all_objects(self) -> List[pathlib.Path]:
        return sorted({path for name in self.sources for path in self.objects(name)})

    def run(self, command: List[str]) -> None:
        output(command, None, self.folder, CLOCK_SECONDS)

    def program(self, name: str) -> pathlib.Path:
        return self.folder / f"{name}.exe"


def run_program(program: Program, executable: pathlib.Path,
                tree: pathlib.Path, emulator: List[str]) -> List[bytes]:
    """Status and output of each call, in a folder that is new every time."""
    outputs: List[bytes] = []
    with tempfile.TemporaryDirectory(prefix="random-hints-") as scratch:
        folder = pathlib.Path(scratch) / "run"
        if program.files:
            shutil.copytree(tree / program.files, folder, symlinks=True)
        else:
            folder.mkdir()
        before = b""
        for call in program.runs:
            before, status = run_once(call, [*emulator, str(executable)], folder, tree, before)
            said = before
            if program.noise:
                said = re.sub(program.noise.encode(), b"", said)
            outputs.append(b"status %s\n" % status + said)
    return outputs


def limit_time() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (COMMAND_SECONDS, COMMAND_SECONDS + 1))


def run_once(call: Run, command: List[str], folder: pathlib.Path,
             tree: pathlib.Path, before: bytes):
    given = (before if call.stdin == BEFORE
             else (tree / call.stdin[len(FILE):]).read_bytes()
             if call.stdin.startswith(FILE) else call.stdin.encode())
    done = run(command + call.arguments, folder=folder, stdin=given,
               environment={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
               seconds=CLOCK_SECONDS, enter=limit_time)
    status = (b"none: took too long" if done.status in (OUT_OF_TIME, -signal.SIGXCPU)
              else str(done.status).encode())
    return done.out + done.err, status
