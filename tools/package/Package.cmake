# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Packages by CPack from the install rules: `cpack -G TGZ`, `-G DEB`, `-G RPM`
# in the build folder. A TGZ has everything and can be unpacked anywhere. DEB and
# RPM are split: who runs programs needs no linker, who runs relinked ones the
# library alone, who compiles with it no LLVM, and the plugins fit one LLVM.
if(NOT CMAKE_SOURCE_DIR STREQUAL PROJECT_SOURCE_DIR)
  return() # packages are made by the project that uses this one
endif()

set(CPACK_PACKAGE_NAME mpgtools)
set(CPACK_PACKAGE_VENDOR mpgtools)
set(MPG_PACKAGE_CONTACT "The mpgtools authors <mpgtools@localhost>" CACHE STRING
  "Who is named as maintainer by packages")
set(CPACK_PACKAGE_CONTACT "${MPG_PACKAGE_CONTACT}")
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
set(CPACK_COMPONENTS_ALL tools headers development)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_RPM_COMPONENT_INSTALL ON)
# Distributions require these beside the files: manuals compressed, a copyright
# and a changelog in each package.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/PackageFiles.cmake)
set(CPACK_MPG_LIBDIR ${CMAKE_INSTALL_LIBDIR})
set(CPACK_MPG_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE
  OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Which package a program needs that is linked with the library, and that the loader's
# cache is made anew.
set(control ${PROJECT_BINARY_DIR}/package)
file(WRITE ${control}/shlibs "libmpgrt 1 libmpgrt1\n")
file(WRITE ${control}/triggers "activate-noawait ldconfig\n")
file(WRITE ${control}/ldconfig.sh "#!/bin/sh\n/sbin/ldconfig\n")
set(CPACK_DEBIAN_LIBMPG_PACKAGE_CONTROL_EXTRA
  ${control}/shlibs ${control}/triggers)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE "Apache-2.0 WITH LLVM-exception")
set(CPACK_RPM_PACKAGE_GROUP "Development/Tools")
set(CPACK_RPM_SPEC_MORE_DEFINE "%define packager ${CPACK_PACKAGE_CONTACT}")
set(CPACK_RPM_libmpg_POST_INSTALL_SCRIPT_FILE ${control}/ldconfig.sh)
set(CPACK_RPM_libmpg_POST_UNINSTALL_SCRIPT_FILE ${control}/ldconfig.sh)
# Every system has these folders; others that are shared may have many owners.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
  /usr/share/man /usr/share/man/man1)

# mpg_describe_package(COMPONENT NAME SECTION SUMMARY TEXT [DEPENDS NAME...]
# [SUGGESTS TEXT]): names are those of packages made here.
function(mpg_describe_package component name section summary text)
  cmake_parse_arguments(PARSE_ARGV 5 package "" "SUGGESTS" "DEPENDS")
  string(TOUPPER ${component} upper)
  set(debian ${package_DEPENDS})
  list(TRANSFORM debian APPEND " (= ${PROJECT_VERSION}-1)")
  list(JOIN debian ", " debian)
  set(rpm ${package_DEPENDS})
  list(TRANSFORM rpm REPLACE "-dev$" "-devel")
  list(TRANSFORM rpm APPEND " = ${PROJECT_VERSION}")
  list(JOIN rpm ", " rpm)
  string(REGEX REPLACE "-dev$" "-devel" rpm_name ${name})
  string(SUBSTRING "${summary}" 0 1 first)
  string(TOUPPER "${first}" first)
  string(REGEX REPLACE "^." "${first}" rpm_summary "${summary}")
  foreach(setting
      DEBIAN_${upper}_PACKAGE_NAME=${name}
      DEBIAN_${upper}_FILE_NAME=DEB-DEFAULT
      DEBIAN_${upper}_PACKAGE_SECTION=${section}
      DEBIAN_${upper}_PACKAGE_DEPENDS=${debian}
      DEBIAN_${upper}_PACKAGE_SUGGESTS=${package_SUGGESTS}
      "DEBIAN_${upper}_DESCRIPTION=${summary}\n${text}"
      RPM_${component}_PACKAGE_NAME=${rpm_name}
      RPM_${component}_PACKAGE_REQUIRES=${rpm}
      RPM_${component}_PACKAGE_SUMMARY=${rpm_summary}
      RPM_${component}_PACKAGE_DESCRIPTION=${text}
      MPG_${component}_PACKAGE_NAME=${name})
    string(FIND "${setting}" "=" sign)
    string(SUBSTRING "${setting}" 0 ${sign} variable)
    math(EXPR sign "${sign} + 1")
    string(SUBSTRING "${setting}" ${sign} -1 value)
    set(CPACK_${variable} "${value}" PARENT_SCOPE)
  endforeach()
endfunction()

mpg_describe_package(tools mpgtools utils
  "programs on large pages: auditor, launcher"
  "mpgaudit tells before the run whether a program's data will be on large
pages, what that costs, and how to fix it; mpgrun runs programs on large pages
as they are; mpginfo looks at the machine.")
mpg_describe_package(headers libmpgrt-dev libdevel
  "programs on large pages: headers, library for links"
  "The headers of libmpgrt, what programs are linked with, static or not, and the
layout of static data for GNU ld and lld. Needs no LLVM.")
mpg_describe_package(development mpgtools-dev devel
  "programs on large pages: linker and wrappers"
  "ld.mpg links programs so that their static data can be on large pages. With
what gcc, clang, flang, CMake and pkg-config need to use it."
  DEPENDS mpgtools libmpgrt-dev
  SUGGESTS "clang-${LLVM_VERSION_MAJOR}, flang-${LLVM_VERSION_MAJOR}, gcc")
if(TARGET mpg_runtime)
  list(APPEND CPACK_COMPONENTS_ALL libmpg)
  mpg_describe_package(libmpg libmpgrt1 libs
    "programs on large pages: run-time library"
    "libmpgrt moves the static data and stacks of a program to large pages before
it runs, and gives it a malloc whose memory is on large pages.")
  string(APPEND CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS
    "libmpgrt1 (= ${PROJECT_VERSION}-1)")
  string(APPEND CPACK_DEBIAN_HEADERS_PACKAGE_DEPENDS
    "libmpgrt1 (= ${PROJECT_VERSION}-1)")
  set(CPACK_RPM_tools_PACKAGE_REQUIRES "libmpgrt1 = ${PROJECT_VERSION}")
  set(CPACK_RPM_headers_PACKAGE_REQUIRES "libmpgrt1 = ${PROJECT_VERSION}")
endif()
if(TARGET mpgsim)
  list(APPEND CPACK_COMPONENTS_ALL lab)
  mpg_describe_package(lab mpgtools-lab utils
    "programs on large pages: benchmarks, model"
    "mpgbench measures what large pages are worth on a machine, mpgsim models how a
program would use the caches and pages of another."
    DEPENDS mpgtools
    SUGGESTS "mpgtools-dev, python3") # of mpg-tune
endif()
if(TARGET mpg_pass_plugin)
  list(APPEND CPACK_COMPONENTS_ALL plugin)
  mpg_describe_package(plugin mpgtools-plugin-${LLVM_VERSION_MAJOR} devel
    "programs on large pages: plugins of clang and flang ${LLVM_VERSION_MAJOR}"
    "Hints for the sector cache and the prefetch of A64FX, and first touch by the
thread that works on the data, as plugins of LLVM ${LLVM_VERSION_MAJOR}."
    DEPENDS mpgtools)
endif()
include(CPack)
