#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# with_mthp.sh KIB COMMAND: runs COMMAND while transparent pages of KIB are on
# for memory that asks, and then has the switch as it was.
switch=/sys/kernel/mm/transparent_hugepage/hugepages-$1kB/enabled
before=$(sed 's/.*\[\(.*\)\].*/\1/' "$switch") || exit 1
trap 'echo "$before" > "$switch"' EXIT
trap 'exit 1' INT TERM HUP
echo madvise > "$switch"
sh -c "$2"
