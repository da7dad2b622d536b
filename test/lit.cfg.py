# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# lit configuration of all suites. A feature that the machine lacks makes a test
# UNSUPPORTED; `quickstart --test` installs everything that can be installed.

import os
import runpy
import shutil
import subprocess

import lit.formats

site = runpy.run_path(lit_config.params["site"])
build = site["mpg_build"]
llvm = site["llvm_tools"]

config.name = "mpgtools"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".test", ".c", ".cpp", ".s", ".yaml"]
config.excludes = ["Inputs", "demo"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(build, "test", "lit")

# FileCheck, not, yaml2obj, llvm-mc and the project's own programs come first;
# gcc, ld.bfd, mold and readelf are the machine's.
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(build, "bin"), llvm, os.environ["PATH"]]
)
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "NO_COLOR", "HOME", "TMPDIR"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions.append(("%mpgaudit", os.path.join(build, "bin", "mpgaudit")))
config.substitutions.append(("%ldmpg", os.path.join(build, "bin", "ld.mpg")))
config.substitutions.append(("%build", build))
config.substitutions.append(("%python", site["python"]))
# `%status N COMMAND...` succeeds if COMMAND ends with exactly that status.
status = os.path.join(site["mpg_source"], "test", "tools", "status.py")
config.substitutions.append(("%status", site["python"] + " " + status))
config.substitutions.append(("%source", site["mpg_source"]))
config.substitutions.append(("%tools", os.path.join(site["mpg_source"], "test", "tools")))

# Programs that a test may need; the feature has the program's name.
for program in (
    "gcc",
    "clang-22",
    "ld.lld-22",
    "ld.mpg",
    "flang-22",
    "aarch64-linux-gnu-g++",
    "ld.gold",
    "mold",
    "aarch64-linux-gnu-gcc",
    "qemu-aarch64",
    "scanelf",
    "setpriv",
    "gfortran",
    "aarch64-linux-gnu-gfortran",
    "pkg-config",
    "make",
    "dpkg-deb",
):
    if shutil.which(program, path=config.environment["PATH"]):
        config.available_features.add(program)
if subprocess.run(
    [site["python"], "-c", "import jsonschema"], stderr=subprocess.DEVNULL
).returncode == 0:
    config.available_features.add("python-jsonschema")
