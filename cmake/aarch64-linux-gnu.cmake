# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds all programs for AArch64 on another machine, with Debian's cross compiler.
# test/tools/arm64_llvm puts LLVM, libelf and libdw for AArch64 into the folder
# MPG_ARM64_ROOT; llvm-tblgen, which runs during the build, is the machine's.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
get_filename_component(mpg_source ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
set(MPG_ARM64_ROOT ${mpg_source}/build/arm64-llvm/root CACHE PATH
  "Folder with LLVM, lld, clang, libelf and libdw for AArch64")
# CMake's compiler checks have a separate cache.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MPG_ARM64_ROOT)

# Finds the file, or stops with an error that tells how to get it.
function(mpg_need file what how)
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "${what} is missing (${file}). Type:\n  ${how}\n"
      "and configure again")
  endif()
endfunction()

set(mpg_llvm usr/lib/llvm-22)
find_program(MPG_AARCH64_C aarch64-linux-gnu-gcc)
find_program(MPG_AARCH64_CXX aarch64-linux-gnu-g++)
mpg_need("${MPG_AARCH64_C}" "The C compiler for AArch64"
  "apt-get install gcc-aarch64-linux-gnu")
mpg_need("${MPG_AARCH64_CXX}" "The C++ compiler for AArch64"
  "apt-get install g++-aarch64-linux-gnu")
mpg_need(${MPG_ARM64_ROOT}/${mpg_llvm}/lib/cmake/llvm/LLVMConfig.cmake
  "LLVM for AArch64"
  "${mpg_source}/test/tools/arm64_llvm ${mpg_source}/build/arm64-llvm")
set(MPG_LLVM_TOOLS /${mpg_llvm}/bin CACHE PATH
  "Folder with llvm-tblgen of the same version for this machine")
mpg_need(${MPG_LLVM_TOOLS}/llvm-tblgen
  "llvm-tblgen for this machine" "apt-get install llvm-22")

set(CMAKE_C_COMPILER ${MPG_AARCH64_C})
set(CMAKE_CXX_COMPILER ${MPG_AARCH64_CXX})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH ${MPG_ARM64_ROOT})
set(CMAKE_PREFIX_PATH /${mpg_llvm})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind IN ITEMS LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
# libLLVM needs other libraries in the same folder.
set(mpg_libraries ${MPG_ARM64_ROOT}/usr/lib/aarch64-linux-gnu)
set(mpg_more_libraries ${MPG_ARM64_ROOT}/lib/aarch64-linux-gnu)
set(CMAKE_EXE_LINKER_FLAGS_INIT
  "-Wl,-rpath-link,${mpg_libraries}:${mpg_more_libraries}")
