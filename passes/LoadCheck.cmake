# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Whether LOADER, clang or opt, loads PLUGIN: run when it has been linked.
if(LOADER MATCHES "clang[^/]*$")
  set(arguments -fpass-plugin=${PLUGIN} -O1 -c -x c)
else()
  set(arguments -load-pass-plugin=${PLUGIN} -passes=default<O1>)
endif()
# All symbols now, not when a pass first calls one.
set(ENV{LD_BIND_NOW} 1)
execute_process(COMMAND ${LOADER} ${arguments} /dev/null -o /dev/null
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status EQUAL 0)
  file(REMOVE ${PLUGIN})
  message(FATAL_ERROR "${LOADER} does not load the plugin (status ${status}):\n"
    "${output}\nThe plugin was built for the LLVM in ${LLVM}, and takes all of "
    "LLVM from the compiler. An undefined symbol of LLVM: that compiler was "
    "linked without exporting them (LLVM_ENABLE_PLUGINS, CLANG_PLUGIN_SUPPORT); "
    "one of std:: : it has another C++ library, so build with the compiler and "
    "the -stdlib= that LLVM was built with. Or name another LLVM by -DLLVM_DIR=")
endif()
