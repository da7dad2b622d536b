# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs last in an installation: writes the list of what was installed, for
# mpgtools-uninstall. One line each, paths from the prefix on:
#
#   f SHA256 PATH     a file      l TARGET PATH     a link
#   d - PATH          a folder that was not there before
#
# Files that an earlier installation in the same place has left stay in the
# list, but for modulefiles: these have the version in their names and would
# load the new programs under the old number.
cmake_policy(PUSH)
cmake_policy(VERSION 3.20)
set(manifest "${mpg_root}/share/mpgtools/install-manifest")
set(entries)
set(paths)
set(folders)
get_filename_component(prefix "${CMAKE_INSTALL_PREFIX}" ABSOLUTE)
foreach(file IN LISTS CMAKE_INSTALL_MANIFEST_FILES)
  get_filename_component(file "${file}" ABSOLUTE)
  file(RELATIVE_PATH path "${prefix}" "${file}")
  if(IS_SYMLINK "${mpg_root}/${path}")
    file(READ_SYMLINK "${mpg_root}/${path}" target)
    list(APPEND entries "l ${target} ${path}")
  else()
    file(SHA256 "${mpg_root}/${path}" sum)
    list(APPEND entries "f ${sum} ${path}")
  endif()
  list(APPEND paths ${path})
  get_filename_component(folder ${path} DIRECTORY)
  while(folder)
    if(NOT folder IN_LIST mpg_folders_before)
      list(APPEND entries "d - ${folder}")
      list(APPEND paths ${folder})
      list(APPEND folders "${mpg_root}/${folder}")
    endif()
    get_filename_component(folder "${folder}" DIRECTORY)
  endwhile()
endforeach()
# As files are, whatever the umask of who installs.
list(REMOVE_DUPLICATES folders)
file(CHMOD ${folders} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
  GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
if(EXISTS "${manifest}")
  file(STRINGS "${manifest}" earlier)
  foreach(entry IN LISTS earlier)
    string(REGEX REPLACE "^[^ ]+ [^ ]+ " "" path "${entry}")
    if(path IN_LIST paths)
      continue()
    endif()
    string(REGEX MATCH "^share/modulefiles/[^/]+/" folder "${path}")
    if(folder AND paths MATCHES "(^|;)${folder}" AND EXISTS "${mpg_root}/${path}")
      file(SHA256 "${mpg_root}/${path}" sum)
      if(entry MATCHES "^f ${sum} ") # one that was changed stays
        file(REMOVE "${mpg_root}/${path}")
        continue()
      endif()
    endif()
    list(APPEND entries "${entry}")
  endforeach()
endif()
list(REMOVE_DUPLICATES entries)
list(SORT entries)
list(JOIN entries "\n" text)
file(WRITE "${manifest}" "${text}\n")
file(CHMOD "${manifest}"
  PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
cmake_policy(POP)
