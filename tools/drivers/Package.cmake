# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Packages by CPack from the install rules: `cpack -G TGZ`, `-G DEB`, `-G RPM`
# in the build folder. A TGZ can be unpacked anywhere.
if(NOT CMAKE_SOURCE_DIR STREQUAL PROJECT_SOURCE_DIR)
  return() # packages are made by the project that uses this one
endif()

set(CPACK_PACKAGE_NAME mpgtools)
set(CPACK_PACKAGE_VENDOR mpgtools)
set(CPACK_PACKAGE_CONTACT "The mpgtools authors <mpgtools@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
  "large pages for programs: linker with the layout, auditor that proves it")
set(CPACK_PACKAGE_DESCRIPTION
  "ld.mpg links programs so that .data and .bss can be on large pages; mpgaudit
tells before the run what stands in the way. With drivers for gcc, clang, flang,
CMake and pkg-config.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# The libraries of the programs, found by dpkg-shlibdeps. The compilers are the
# user's choice.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
  "clang-${LLVM_VERSION_MAJOR}, flang-${LLVM_VERSION_MAJOR}, gcc")
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE "Apache-2.0 WITH LLVM-exception")
include(CPack)
