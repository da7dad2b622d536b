# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# MPG_KERNEL_SOURCES: the kernels, and how each is compiled. libmpg and the unit
# tests build them, with flags of their own beside these.
set(MPG_KERNEL_SOURCES "")

# mpg_kernels(FLAGS FILE...): files that are compiled with FLAGS; only a file of
# intrinsics is compiled for its instruction set. Holds for the folder that
# includes this.
macro(mpg_kernels flags)
  set(files ${ARGN})
  list(TRANSFORM files PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
  set_source_files_properties(${files} PROPERTIES COMPILE_OPTIONS "${flags}")
  list(APPEND MPG_KERNEL_SOURCES ${files})
endmacro()

mpg_kernels("" Dispatch.cpp EmbeddingLookup.cpp StreamCalls.cpp)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # b + s * c is rounded twice, also where the compiler may use FMA.
  mpg_kernels("-ffp-contract=off" Probes.cpp StreamPlain.cpp)
  mpg_kernels("-mavx2;-ffp-contract=off" LookupAvx2.cpp StreamAvx2.cpp)
  mpg_kernels("-mavx512f;-ffp-contract=off" StreamAvx512.cpp)
else()
  mpg_kernels("" Probes.cpp StreamPlain.cpp)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  mpg_kernels("-march=armv8.2-a+sve" LookupSve.cpp StreamSve.cpp)
endif()
