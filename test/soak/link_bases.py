# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The code bases of link-programs: how each is built, tested and counted.

Chosen for their demands on a linker, and because their test suites are quick and repeatable. The
commands are those a user would type; a Toolchain decides which compiler calls which linker. This
module does not depend on the linker.
"""

import dataclasses
import pathlib
import re
from typing import Callable, Dict, List

JOBS = "-j2"

# Debian's patches make generated files look older than their sources. Generating them again would
# need more tools and change nothing.
NO_AUTOTOOLS = {name: ":" for name in ("ACLOCAL", "AUTOMAKE", "AUTOCONF", "AUTOHEADER", "MAKEINFO")}


@dataclasses.dataclass
class Toolchain:
    """A folder with `ld` and two files of compiler options that choose it."""

    folder: pathlib.Path

    @property
    def clang_flags(self) -> str:
        return f"--config={self.folder}/clang.cfg"

    @property
    def flang_flags(self) -> str:
        return f"--config={self.folder}/flang.cfg"

    @property
    def gcc_flags(self) -> str:
        return f"-B{self.folder}"


@dataclasses.dataclass
class Step:
    """One command in the build tree. Test suites may end with a failure."""

    command: List[str]
    environment: Dict[str, str] = dataclasses.field(default_factory=dict)
    folder: str = "."
    may_fail: bool = False


@dataclasses.dataclass
class Result:
    """One test's verdict; checks: how many comparisons it reports."""

    passed: bool
    checks: int = 1


Results = Dict[str, Result]


@dataclasses.dataclass
class Base:
    name: str  # of the Debian source package, too
    about: str
    needs: List[str]  # commands
    steps: Callable[[Toolchain], List[Step]]
    # From the build tree and the output of the last step.
    results: Callable[[pathlib.Path, str], Results]
    main_files: List[str]  # patterns: what must have been linked
    min_passed: int  # fewer: the suite stopped early, for both linkers


def automake_results(log: str) -> Results:
    """PASS: name, FAIL: name ... as automake and busybox print them."""
    verdicts = re.findall(r"(?m)^(PASS|FAIL|ERROR|XPASS|XFAIL): (.+)$", log)
    results: Results = {}
    for verdict, test in verdicts:
        while test in results:
            test += "'"  # busybox has tests of the same name
        results[test] = Result(verdict in ("PASS", "XFAIL"))
    return results


# --- gawk


def gawk_steps(tools: Toolchain) -> List[Step]:
    compiler = {"CC": f"clang-22 {tools.clang_flags}", "CFLAGS": "-O1", **NO_AUTOTOOLS}
    # Not plain `make`: Debian's source lacks the manual.
    return [
        Step(["./configure", "--disable-nls", "--disable-mpfr",
              "--without-readline"], compiler),
        Step(["make", JOBS, "-C", "support"]),
        Step(["make", JOBS, "all-am"]),
        Step(["make", JOBS, "-C", "extension"]),
        Step(["make", "-C", "test", "check"], may_fail=True),
    ]


def gawk_results(tree: pathlib.Path, log: str) -> Results:
    # A line for each test that ran; a test that failed leaves a file.
    return {name: Result(not (tree / "test" / f"_{name}").exists())
            for name in re.findall(r"(?m)^([a-z][\w-]*)$", log)}


# --- cppunit


def cppunit_steps(tools: Toolchain) -> List[Step]:
    compiler = {"CC": f"clang-22 {tools.clang_flags}",
                "CXX": f"clang++-22 {tools.clang_flags}",
                "CXXFLAGS": "-O0", **NO_AUTOTOOLS}
    return [
        Step(["./configure", "--disable-doxygen", "--disable-static"],
             compiler),
        Step(["make", JOBS]),
        Step(["make", "check"], may_fail=True),
    ]


def cppunit_results(tree: pathlib.Path, log: str) -> Results:
    results = automake_results(log)
    text = (tree / "examples/cppunittest/cppunittestmain.log").read_text()
    for test, verdict in re.findall(r"(?m)^(\S+::\S+) : (\w+)", text):
        results[test] = Result(verdict == "OK")
    return results


# --- libgc


def libgc_steps(tools: Toolchain) -> List[Step]:
    compiler = {"CC": f"gcc {tools.gcc_flags}", "CXX": f"g++ {tools.gcc_flags}", **NO_AUTOTOOLS}
    return [
        Step(["./configure", "--with-libatomic-ops=none",
              "--enable-cplusplus", "--disable-docs"], compiler),
        Step(["make", JOBS]),
        Step(["make", "check"], may_fail=True),
    ]


def libgc_results(tree: pathlib.Path, log: str) -> Results:
    return automake_results(log)


# --- busybox


def busybox_steps(tools: Toolchain) -> List[Step]:
    compiler = f"clang-22 {tools.clang_flags}"
    # With a static glibc the build omits --gc-sections by itself, so it is passed here; the address
    # tests an unusual one.
    variables = [f"CC={compiler}", f"HOSTCC={compiler}",
                 f"LD={tools.folder}/ld", "EXTRA_LDFLAGS=-no-pie "
                 "-Wl,--gc-sections -Wl,--image-base=0x40000000"]
    # As Debian runs the suite: nothing that wants the Internet or devices.
    suite = {"SKIP_KNOWN_BUGS": "y", "SKIP_INTERNET_TESTS": "y",
             "ECHO": "/bin/echo", "SHELL": "/bin/sh"}
    return [
        Step(["cp", "debian/config/pkg/static", ".config"]),
        Step(["sh", "-c", "yes '' | make oldconfig \"$@\"", "sh"] + variables),
        Step(["make", JOBS] + variables),
        Step(["rm", "-f", "testsuite/mdev.tests"]),
        Step(["./runtest"], suite, folder="testsuite", may_fail=True),
    ]


def busybox_results(tree: pathlib.Path, log: str) -> Results:
    return automake_results(log)


# --- lapack


def lapack_steps(tools: Toolchain) -> List[Step]:
    return [
        Step(["cmake", "-G", "Ninja", "-S", ".", "-B", "made",
              "-DCMAKE_C_COMPILER=clang-22",
              f"-DCMAKE_C_FLAGS={tools.clang_flags}",
              "-DCMAKE_Fortran_COMPILER=flang-22",
              f"-DCMAKE_Fortran_FLAGS={tools.flang_flags}",
              "-DCMAKE_BUILD_TYPE=None", "-DBUILD_SHARED_LIBS=ON",
              # One of four precisions: the others are the same code again.
              "-DBUILD_DOUBLE=ON", "-DBUILD_SINGLE=OFF",
              "-DBUILD_COMPLEX=OFF", "-DBUILD_COMPLEX16=OFF",
              "-DBUILD_TESTING=ON"]),
        Step(["cmake", "--build", "made", JOBS]),
        Step(["ctest", JOBS], folder="made", may_fail=True),
    ]


def lapack_results(tree: pathlib.Path, log: str) -> Results:
    results: Results = {}
    for name, verdict in re.findall(r"(?m)^\s*\d+/\d+ Test +#\d+: (\S+) \.* *(\*{3})?", log):
        results[name] = Result(not verdict)
    # Each program's output lists its checks.
    for path in sorted((tree / "made").rglob("TESTING/*.out")):
        for number, line in enumerate(path.read_text().splitlines()):
            add_lapack_line(results, f"{path.name}:{number}", line)
    return results


def add_lapack_line(results: Results, where: str, line: str) -> None:
    words = " ".join(line.split())
    passed = re.search(r"passed.*\( *(\d+) tests (?:run|done)\)", words)
    failed = re.search(r"(\d+) out of (\d+) tests? failed", words)
    if passed:
        results[f"{where} {words}"] = Result(True, int(passed[1]))
    elif failed or re.search(r"(?i)\bfail|illegal", words):
        checks = int(failed[1]) if failed else 1
        results[f"{where} {words}"] = Result(False, checks)


# The quickest first: a short run takes the first ones.
BASES = [
    Base("gawk", "C, clang: -no-pie, extensions opened at run time",
         ["clang-22", "make"], gawk_steps, gawk_results,
         ["gawk", "extension/.libs/*.so"], 400),
    Base("cppunit", "C++, clang++: exceptions, static objects, a shared "
         "library and plug-ins", ["clang++-22", "make"],
         cppunit_steps, cppunit_results,
         ["src/cppunit/.libs/libcppunit-*.so.*",
          "examples/cppunittest/.libs/cppunittestmain"], 200),
    Base("libgc", "C and C++, gcc: a collector that searches .data and .bss "
         "of all libraries for pointers", ["gcc", "g++", "make"],
         libgc_steps, libgc_results,
         [".libs/libgc.so.*", ".libs/gctest"], 15),
    Base("busybox", "C, clang: -static, --gc-sections, --sort-section, -r, "
         "an address of its own, stripped", ["clang-22", "make"],
         busybox_steps, busybox_results, ["busybox"], 600),
    Base("lapack", "Fortran, flang: COMMON blocks, shared libraries",
         ["clang-22", "flang-22", "cmake", "ninja"],
         lapack_steps, lapack_results,
         ["made/lib/lib*.so.*", "made/bin/x*"], 1000000),
]
