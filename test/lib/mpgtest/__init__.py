# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code that the test programs in Python share.

  cgroups  groups with a limit on large pages, memory, processes
  links    kinds of linked files, compilers for both machines
  measure  processor time, and the interval of a median
  options  a command line in one expression
  run      commands with an end, and what they said; the end of a check
  same     a program, run twice: status, output, files
  soak     command line, work folder and counts of the long runs
"""
