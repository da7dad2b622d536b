# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""OpenMP codes of Debian source packages that first-touch-foreign compiles.

Only what is needed to compile single files: which ones, flags, and a
configure step where headers come out of it. {tree} in a word is the unpacked
package, {build} the folder that the step ran in. Paths are relative to the
package. Nothing here knows what the pass ought to find.
"""

import dataclasses
from typing import Dict, List


@dataclasses.dataclass
class Package:
    name: str  # of the Debian source package
    roots: List[str] = dataclasses.field(default_factory=lambda: ["."])
    without: List[str] = dataclasses.field(default_factory=list)  # in paths
    # A pattern that the file has to contain; a name for the directive, if it has one.
    pragma: str = ""
    flags: List[str] = dataclasses.field(default_factory=list)
    includes: List[str] = dataclasses.field(default_factory=list)
    prepare: List[List[str]] = dataclasses.field(default_factory=list)
    headers: Dict[str, str] = dataclasses.field(default_factory=dict)
    archive: str = ""  # a tar file inside of the package that holds the sources
    # The files of one whole program, for a link with LTO.
    program: List[str] = dataclasses.field(default_factory=list)
    # Fortran files that may hold modules, in any order.
    modules: List[str] = dataclasses.field(default_factory=list)


PACKAGES = [
    Package("fasttree", flags=["-DOPENMP"]),
    Package("healpix-cxx", includes=["Healpix_cxx", "cxxsupport", "libsharp",
                                     "c_utils"]),
    Package("hypre", roots=["src"], includes=["src", "src/*"],
            prepare=[["cmake", "-S", "{tree}/src", "-B", ".",
                      "-DHYPRE_WITH_OPENMP=ON", "-DHYPRE_WITH_MPI=OFF",
                      "-DHYPRE_ENABLE_OPENMP=ON"]],
            flags=["-DHAVE_CONFIG_H", "-DHYPRE_USING_OPENMP",
                   "-DHYPRE_SEQUENTIAL", "-DHYPRE_TIMING", "-I{build}"]),
    Package("sundials", roots=["src", "examples", "benchmarks"],
            includes=["include", "src/sundials", "src/*"],
            prepare=[["cmake", "-S", "{tree}", "-B", ".",
                      "-DENABLE_OPENMP=ON", "-DENABLE_MPI=OFF"]],
            program=["examples/arkode/C_openmp/ark_brusselator1D_omp.c",
                     "src/arkode/*.c", "src/sundials/sundials_*.c",
                     "src/nvector/openmp/nvector_openmp.c",
                     "src/nvector/serial/nvector_serial.c",
                     "src/sunmatrix/band/*.c", "src/sunmatrix/dense/*.c",
                     "src/sunlinsol/band/*.c", "src/sunlinsol/dense/*.c",
                     "src/sunnonlinsol/*/*.c"],
            flags=["-I{build}/include"]),
    Package("bart", roots=["src"], includes=["src"],
            flags=["-std=gnu11", "-fblocks", "-DNO_FIFO"]),
    Package("graphicsmagick", roots=["magick", "coders", "filters"],
            includes=["."],
            program=["utilities/gm.c", "magick/*.c", "filters/*.c"],
            prepare=[["{tree}/configure", "--enable-openmp",
                      "--without-x", "--without-perl"]],
            flags=["-I{build}", "-I{build}/magick", "-DHAVE_CONFIG_H"]),
    Package("suitesparse", roots=["GraphBLAS/Source", "GraphBLAS/Demo"],
            without=["Template", "Generator"],
            includes=["GraphBLAS/Include", "GraphBLAS/Source",
                      "GraphBLAS/Source/*", "GraphBLAS/Demo/Include",
                      "GraphBLAS/cpu_features/include",
                      "GraphBLAS/cpu_features", "GraphBLAS/zstd",
                      "GraphBLAS/rmm_wrap",
                      "GraphBLAS/zstd/zstd_subset", "GraphBLAS/lz4",
                      "GraphBLAS/xxHash", "SuiteSparse_config"]),
    Package("lammps", roots=["src/OPENMP", "src/DIFFRACTION", "src/DPD-REACT"],
            includes=["src", "src/STUBS", "src/*"],
            flags=["-DLMP_OPENMP", "-std=c++17"]),
    Package("gromacs", roots=["src/gromacs"],
            includes=["src", "src/include", "src/external",
                      "src/gromacs/*/include", "src/gromacs/utility/include",
                      "api/legacy/include", "src/external/*/include",
                      "src/external/*"],
            prepare=[["cmake", "-S", "{tree}", "-B", ".", "-DGMX_OPENMP=ON",
                      "-DGMX_FFT_LIBRARY=fftpack", "-DGMX_GPU=OFF",
                      "-DGMX_SIMD=None", "-DBUILD_TESTING=OFF",
                      "-DGMX_BUILD_OWN_FFTW=OFF"]],
            flags=["-std=c++17", "-I{build}/src", "-DHAVE_CONFIG_H",
                   "-I{build}/api/legacy/include",
                   "-I{build}/src/include"]),
    Package("openblas", roots=["cpp_thread_test", "benchmark",
                               "driver/others", "driver/level2"],
            includes=["."], flags=["-I{build}", "-DUSE_OPENMP", "-DSMP_SERVER",
                                   "-DMAX_CPU_NUMBER=64"],
            prepare=[["cmake", "-S", "{tree}", "-B", ".", "-DUSE_OPENMP=1",
                      "-DNOFORTRAN=1", "-DTARGET=HASWELL"]]),
    Package("fftw3", roots=["threads", "tests", "libbench2"],
            includes=["."], flags=["-I{build}", "-DHAVE_CONFIG_H"],
            prepare=[["cmake", "-S", "{tree}", "-B", ".",
                      "-DENABLE_OPENMP=ON"]]),
    Package("darknet", roots=["src", "examples"], includes=["include", "src"],
            flags=["-DOPENMP"]),
    # One of its four types of numbers: the others are the same text.
    Package("mumps", roots=["src"], includes=["include", "libseq"],
            without=["src/c", "src/s", "src/z"],
            modules=["src/[di]*.F", "src/mumps*.F", "src/omp*.F",
                     "src/fac*.F", "src/front*.F", "src/lr*.F",
                     "src/ana*.F", "src/double*.F"]),
    Package("espresso", roots=["FFTXlib", "Modules", "PW/src", "CPV/src",
                               "UtilXlib", "upflib", "KS_Solvers/PPCG"],
            includes=["include", "FFTXlib", "UtilXlib", "upflib"],
            modules=["upflib/*.f90", "UtilXlib/*.f90", "FFTXlib/*.f90",
                     "Modules/*.f90", "KS_Solvers/*/*.f90", "PW/src/*.f90",
                     "CPV/src/*.f90"]),
    Package("gcc-12", archive="gcc-*.tar.xz",
            roots=["libgomp/testsuite/libgomp.c",
                   "libgomp/testsuite/libgomp.c-c++-common",
                   "libgomp/testsuite/libgomp.c++",
                   "libgomp/testsuite/libgomp.fortran"]),
]
