# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The AUDIT step of mpg_target_large_pages: fails, and shows mpgaudit's whole
# report, when there is a warning or an error about a finished program. Says
# nothing else: builds are noisy enough.
#
#   cmake -DAUDITOR=mpgaudit -DPROGRAM=app -P mpgtoolsAudit.cmake
execute_process(
  # Of the program alone: this is about how it was linked.
  COMMAND "${AUDITOR}" --target=mpg --fail-on=warning --no-closure --no-config
    -- "${PROGRAM}"
  OUTPUT_VARIABLE report ERROR_VARIABLE report RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message("${report}")
  message(FATAL_ERROR "AUDIT of mpg_target_large_pages: mpgaudit ended with "
    "${result}. Its report above says what to do.")
endif()
