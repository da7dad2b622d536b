# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Run by CPack for a DEB or an RPM, when all files of the packages are there and
# before they are packed.
cmake_minimum_required(VERSION 3.20)

# compress(FILE): into FILE.gz, without a time and a name in it.
function(compress file)
  execute_process(COMMAND gzip -9n -f ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# compress_manuals(ROOT): pages, and the links between them.
function(compress_manuals root)
  file(GLOB pages ${root}${CPACK_PACKAGING_INSTALL_PREFIX}/share/man/man1/*.1)
  foreach(page ${pages})
    if(IS_SYMLINK ${page})
      file(READ_SYMLINK ${page} target)
      file(REMOVE ${page})
      file(CREATE_LINK ${target}.gz ${page}.gz SYMBOLIC)
    endif()
  endforeach()
  foreach(page ${pages})
    if(EXISTS ${page})
      compress(${page})
    endif()
  endforeach()
endfunction()

# name_python(ROOT): distributions have scripts run by the system's Python, not by the first of PATH.
function(name_python root)
  file(GLOB programs ${root}${CPACK_PACKAGING_INSTALL_PREFIX}/bin/*)
  foreach(program ${programs})
    file(READ ${program} head LIMIT 22 HEX)
    string(HEX "#!/usr/bin/env python3" wanted)
    if(head STREQUAL wanted AND NOT IS_SYMLINK ${program})
      execute_process(COMMAND sed -i "1s,.*,#!/usr/bin/python3," ${program}
        COMMAND_ERROR_IS_FATAL ANY)
    endif()
  endforeach()
endfunction()

# add_debian_files(ROOT PACKAGE): copyright, changelog, overrides.
function(add_debian_files root package)
  set(doc ${root}/usr/share/doc/${package})
  # The Apache License itself is a file of every Debian system.
  file(READ ${CPACK_MPG_LICENSE} license)
  string(FIND "${license}" "---- LLVM Exceptions" exceptions)
  string(SUBSTRING "${license}" ${exceptions} -1 license)
  file(REMOVE ${doc}/LICENSE)
  file(WRITE ${doc}/copyright "mpgtools\n\n"
    "Copyright: 2026 The mpgtools authors\n\n"
    "License: Apache-2.0 WITH LLVM-exception\n\n"
    "On Debian systems the text of the Apache License 2.0 is in\n"
    "/usr/share/common-licenses/Apache-2.0.\n\n${license}")
  if(EXISTS ${doc}/CHANGELOG.md)
    file(RENAME ${doc}/CHANGELOG.md ${doc}/changelog)
    compress(${doc}/changelog)
  endif()
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # or SOURCE_DATE_EPOCH
  file(WRITE ${doc}/changelog.Debian
    "${package} (${CPACK_PACKAGE_VERSION}-1) unstable; urgency=medium\n\n"
    "  * Made from the sources of this version by CPack.\n\n"
    " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  compress(${doc}/changelog.Debian)
  file(GLOB plugins ${root}/usr/${CPACK_MPG_LIBDIR}/Mpg*.so)
  if(plugins)
    file(WRITE ${root}/usr/share/lintian/overrides/${package}
      "# Compilers and ld.mpg open plugins by their path, which is beside the library;\n"
      "# nothing links with them.\n"
      "sharedobject-in-library-directory-missing-soname\n")
  endif()
endfunction()

foreach(component ${CPACK_COMPONENTS_ALL})
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${component})
  if(IS_DIRECTORY ${root})
    compress_manuals(${root})
    name_python(${root})
    if(CPACK_GENERATOR STREQUAL "RPM")
      # rpm of RHEL 8 looks only into executable files for what is provided.
      file(GLOB libraries ${root}${CPACK_PACKAGING_INSTALL_PREFIX}/${CPACK_MPG_LIBDIR}/*.so
        ${root}${CPACK_PACKAGING_INSTALL_PREFIX}/${CPACK_MPG_LIBDIR}/*.so.*.*)
      foreach(library ${libraries})
        if(NOT IS_SYMLINK ${library})
          file(CHMOD ${library} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
            GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
        endif()
      endforeach()
    endif()
    if(CPACK_GENERATOR STREQUAL "DEB")
      add_debian_files(${root} ${CPACK_MPG_${component}_PACKAGE_NAME})
    endif()
  endif()
endforeach()
