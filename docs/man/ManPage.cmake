# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -D SOURCE=NAME.1.md -D PAGE=NAME.1 -D VERSION=... -D MD2MAN=go-md2man
#   -P ManPage.cmake
#
# go-md2man's own title has other words, it asks for a font (C) that terminals do
# not have, and it makes the columns of tables as wide as their text, beyond the
# edge of any terminal: this corrects it.

cmake_minimum_required(VERSION 3.20)
file(READ ${SOURCE} text)
if(NOT text MATCHES "^% ([^\n(]+)[(]([0-9])[)] [^\n]*\n")
  message(FATAL_ERROR "${SOURCE}: the first line is not '% NAME(1) mpgtools'")
endif()
set(title "\"${CMAKE_MATCH_1}\" \"${CMAKE_MATCH_2}\" \"\" \"mpgtools ${VERSION}\"")
string(FIND "${text}" "\n" end)
string(SUBSTRING "${text}" ${end} -1 text)
# Marks of what test/tools/table_pages.py makes.
string(REGEX REPLACE "<!--[^>]*-->\n" "" text "${text}")
file(WRITE ${PAGE}.md "% ${title} \"mpgtools\"${text}")
execute_process(COMMAND ${MD2MAN} -in ${PAGE}.md -out ${PAGE}.tmp
  COMMAND_ERROR_IS_FATAL ANY)
file(READ ${PAGE}.tmp roff)

string(REPLACE "\\fB\\fC" "\\fB" roff "${roff}")
string(REPLACE "\\fC" "" roff "${roff}")
# After the title, which sets them: words and paths stay whole, and what is
# narrow is not filled up with blanks.
string(REGEX REPLACE "[.]nh\n([.]TH [^\n]*\n)" "\\1.nh\n.ad l\n" roff "${roff}")
# Text that begins a line with .bss is no macro.
string(REGEX REPLACE "\n([.][a-z][a-z][a-z])" "\n\\\\&\\1" roff "${roff}")
# The last column takes what room there is, and its text is filled.
string(REGEX REPLACE "\n((l )+)l \n((l )+)l [.]\n" "\n\\1lx\n\\3lx.\n" roff "${roff}")
string(REPLACE "\nl l l l l l l " "\nl1 l1 l1 l1 l1 l1 l1 " roff "${roff}") # a wide one
string(ASCII 1 mark)
string(REPLACE "\tT{\n" "\t${mark}\n" roff "${roff}")
string(REGEX REPLACE "\t([^\t\n${mark}]+)\n" "\tT{\n\\1\nT}\n" roff "${roff}")
string(REPLACE "\t${mark}\n" "\tT{\n" roff "${roff}")
file(WRITE ${PAGE} "${roff}")
file(REMOVE ${PAGE}.md ${PAGE}.tmp)
