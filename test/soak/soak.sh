# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# soak.sh: what a long run in sh does first; it sources this file.
# --help prints the comment at the head of the script. With MPG_SOAK_RECORD=1 results.py
# runs the script once more and records its result.
# shellcheck shell=sh

case " $* " in
*" -h "* | *" --help "*)
  sed -n '4,/^[^#]*$/s/^# \{0,1\}//p' "$0" | sed '/^shellcheck /d'
  exit 0
  ;;
esac
[ "${MPG_SOAK_RECORD:-0}" = 0 ] || exec "$(dirname "$0")/../lib/mpgtest/results.py" "$0" "$@"
