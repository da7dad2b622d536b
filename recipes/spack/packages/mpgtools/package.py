# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pathlib

from spack.package import *

# The clone that contains this recipe.
CLONE = pathlib.Path(__file__).resolve().parents[4]


class Mpgtools(CMakePackage):
    """Large pages and A64FX hints for programs: an auditor of programs and job
    scripts, a linker, a launcher with a heap, and plugins for clang."""

    git = CLONE.as_uri()

    license("Apache-2.0 WITH LLVM-exception")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("tools", default=True, description="Build all; without, libmpg alone")
    variant("plugins", default=True, when="+tools", description="Build the plugins for clang")

    depends_on("cmake@3.21:", type="build")
    depends_on("ninja", type="build")
    depends_on("elfutils", when="+tools")
    depends_on("zlib-api", when="+tools")
    depends_on("zstd", when="+tools")
    # This same LLVM loads the plugins, so it is needed at run time, too.
    depends_on("llvm@19:19,22:22 +clang+lld", type=("build", "link", "run"), when="+tools")

    conflicts("%gcc@:8", msg="mpgtools needs a compiler for C++17")

    generator("ninja")

    def cmake_args(self):
        parts = ["runtime"]
        if self.spec.satisfies("+tools"):
            parts += ["tools", "linker"]
        if self.spec.satisfies("+plugins"):
            parts += ["plugin"]
        args = [
            self.define("MPG_BUILD_TESTS", False),
            # Compiles the files of a folder as one unit, in half the time.
            self.define("MPG_UNITY", True),
            self.define("MPG_PARTS", ",".join(parts)),
        ]
        if self.spec.satisfies("+tools"):
            args.append(self.define("MPG_LLVM_VERSION", self.spec["llvm"].version))
        return args

    def setup_run_environment(self, env):
        env.set("MPGTOOLS_ROOT", self.prefix)

    def test_audit(self):
        """mpgaudit audits a program"""
        if self.spec.satisfies("~tools"):
            raise SkipTest("mpgaudit is not built without tools")
        mpgaudit = which(self.prefix.bin.mpgaudit)
        out = mpgaudit(self.prefix.bin.mpgaudit, output=str.split, error=str.split)
        check_outputs(r"audited for target", out)

    def test_run(self):
        """mpgrun runs a program with libmpg"""
        if self.spec.satisfies("~tools"):
            raise SkipTest("mpgrun is not built without tools")
        mpgrun = which(self.prefix.bin.mpgrun)
        out = mpgrun("--report", "/bin/true", output=str.split, error=str.split)
        check_outputs(r"true: status 0", out)
