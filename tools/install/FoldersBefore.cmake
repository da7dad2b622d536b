# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs first in an installation: notes which folders that programs share are
# there already, so that taking the installation away leaves them.
set(mpg_root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
set(mpg_folders_before)
foreach(folder IN LISTS mpg_shared_folders)
  if(IS_DIRECTORY "${mpg_root}/${folder}")
    list(APPEND mpg_folders_before ${folder})
  endif()
endforeach()
# CMake's own list of files, which root has written if root was the last to
# install from this folder: its owner could not write it again.
file(REMOVE "${mpg_build}/install_manifest.txt")
