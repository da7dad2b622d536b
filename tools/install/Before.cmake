# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Comes before all other install rules: FoldersBefore.cmake has to run first. The
# folders named here are those that an installation shares with others.
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
install(SCRIPT tools/install/FoldersBefore.cmake COMPONENT uninstall)
