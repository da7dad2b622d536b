# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The repository has two parts. The lab measures and models: it helps to decide and
# to research. The core is all else, and works without the lab. No folder of the
# core includes one of the lab; test/house/arrows.test reads this list.
option(MPG_BUILD_LAB
  "Build the lab, too: mpgsim, mpgbench, kernels, remarks about OpenMP loops" ON)
set(MPG_LAB_FOLDERS
  lib/Machines
  lib/Plot
  lib/Sim
  lib/SimRun
  passes/remarks
  passes/sim
  runtime/kernels
  runtime/qemu
  runtime/sim
  test/bench
  test/kernels
  test/mpgbench
  test/mpgsim
  test/soak
  test/unit/kernels
  test/unit/sim
  tools/mpg-tune
  tools/mpgbench
  tools/mpgsim)
set(MPG_LAB_HEADERS embedding_omp.hpp kernels.h kernels_omp.hpp sim.h)

# Words for install() of runtime/include/mpg: what is left out of this build.
set(MPG_HEADERS_LEFT_OUT)
if(NOT MPG_BUILD_LAB)
  foreach(header ${MPG_LAB_HEADERS})
    list(APPEND MPG_HEADERS_LEFT_OUT PATTERN ${header} EXCLUDE)
  endforeach()
endif()

# mpg_part_of(FOLDER PART IS_BUILT): sets PART to core or lab, as FOLDER of this
# repository is, and IS_BUILT to whether this build has that part.
function(mpg_part_of folder part is_built)
  set(${part} core PARENT_SCOPE)
  set(${is_built} ON PARENT_SCOPE)
  foreach(lab ${MPG_LAB_FOLDERS})
    if("${folder}/" MATCHES "^${lab}/")
      set(${part} lab PARENT_SCOPE)
      set(${is_built} ${MPG_BUILD_LAB} PARENT_SCOPE)
    endif()
  endforeach()
endfunction()
