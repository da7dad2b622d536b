# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Comes before all other install rules, and so runs first in an installation: notes
# which folders that programs share are there already, so that taking the installation
# away leaves them (Manifest.cmake).
set(data ${CMAKE_INSTALL_DATADIR})
set(lib ${CMAKE_INSTALL_LIBDIR})
set(shared_folders ${CMAKE_INSTALL_BINDIR} ${CMAKE_INSTALL_INCLUDEDIR}
  ${lib} ${lib}/cmake ${lib}/pkgconfig share share/doc
  ${CMAKE_INSTALL_MANDIR} ${CMAKE_INSTALL_MANDIR}/man1
  ${data} ${data}/bash-completion ${data}/bash-completion/completions
  ${data}/fish ${data}/fish/vendor_completions.d
  ${data}/zsh ${data}/zsh/site-functions)
install(CODE "set(mpg_shared_folders ${shared_folders})
  set(mpg_build \"${PROJECT_BINARY_DIR}\")" COMPONENT uninstall)
install(CODE [=[
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
]=] COMPONENT uninstall)
