# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# bash completion for mpgaudit. The program itself knows its options, values
# and findings; this file only asks it, and takes files for everything else.

_mpgaudit() {
  # bash cuts words at = and at colons: what stands before the cursor without a
  # blank is one word for the program.
  local line=${COMP_LINE:0:COMP_POINT}
  local typed=${line##*[[:space:]]} current=${COMP_WORDS[COMP_CWORD]}
  [[ $current == = ]] && current=
  local start=${typed%"$current"} word

  COMPREPLY=()
  if [[ $typed == -* ]]; then
    while IFS=$'\t' read -r word _; do
      # What bash inserts stands in place of the last piece alone.
      COMPREPLY+=("${word#"$start"}")
    done < <("${COMP_WORDS[0]}" --autocomplete="$typed" 2>/dev/null)
  fi
  if ((${#COMPREPLY[@]} > 0)); then
    # An option that takes a value, or a list that may go on: no blank behind it.
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] ||
      [[ $typed == --checks=* || $typed == --suppress=* ]]; then
      compopt -o nospace 2>/dev/null
    fi
    return
  fi
  # Files: operands, @LIST, and options whose value is one.
  local prefix=
  case $typed in
  --*=*) current=${typed#*=} ;;
  @*) prefix=@ current=${typed#@} ;;
  -*) return ;;
  *) current=$typed ;;
  esac
  compopt -o filenames 2>/dev/null
  while IFS= read -r word; do
    COMPREPLY+=("$prefix$word")
  done < <(compgen -f -- "$current")
}

complete -F _mpgaudit mpgaudit
