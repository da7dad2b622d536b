# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# libmpg for AArch64 beside that of this machine: programs that are compiled for
# other nodes link it, and tests run it under qemu. In aarch64/ of the build
# folder, where ld.mpg finds it by a link. Built as its users build it, so without
# a sanitizer. Installed by its component only: packages are for one machine.
include(ExternalProject)
find_program(MPG_AARCH64_CXX aarch64-linux-gnu-g++)
find_program(MPG_AARCH64_C aarch64-linux-gnu-gcc)
if(NOT MPG_AARCH64_CXX OR NOT MPG_AARCH64_C)
  if(MPG_BUILD_AARCH64_RUNTIME)
    message(FATAL_ERROR "MPG_BUILD_AARCH64_RUNTIME needs a compiler for AArch64:"
      " apt-get install g++-aarch64-linux-gnu")
  endif()
  return()
endif()

set(warnings "")
if(CMAKE_CXX_FLAGS MATCHES "-Werror")
  set(warnings -DCMAKE_CXX_FLAGS=-Werror)
endif()
ExternalProject_Add(mpg_runtime_aarch64
  PREFIX ${PROJECT_BINARY_DIR}/aarch64-project
  SOURCE_DIR ${PROJECT_SOURCE_DIR}/runtime
  BINARY_DIR ${PROJECT_BINARY_DIR}/aarch64
  CMAKE_ARGS -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64
    -DCMAKE_C_COMPILER=${MPG_AARCH64_C}
    -DCMAKE_CXX_COMPILER=${MPG_AARCH64_CXX}
    -DCMAKE_BUILD_TYPE=Release ${warnings} -DMPG_CHECKED=${MPG_CHECKED}
    -DMPG_BUILD_LAB=${MPG_BUILD_LAB}
  BUILD_ALWAYS ON
  INSTALL_COMMAND "")

set(aarch64_folder mpgtools/aarch64-linux-gnu)
file(MAKE_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/mpgtools)
file(CREATE_LINK ../../aarch64/lib
  ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${aarch64_folder} SYMBOLIC)
install(DIRECTORY ${PROJECT_BINARY_DIR}/aarch64/lib/
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/${aarch64_folder}
  COMPONENT aarch64-runtime EXCLUDE_FROM_ALL)
