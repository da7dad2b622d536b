# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# bash completion for the programs of mpgtools. Each program itself knows its
# options and their values; this file only asks it, and takes files for
# everything else.

# After the own options of mpgrun, mpgsim and mpg-tune stands another command line.
_mpgtools_command() {
  local at
  for ((at = 1; at < COMP_CWORD; at++)); do
    case ${COMP_WORDS[at]} in
    --) ((at++)) && break ;;
    # bash cuts words at = and at colons: what follows belongs to the option.
    -* | = | :) ;;
    *) [[ ${COMP_WORDS[at - 1]} == [=:] ]] || break ;;
    esac
  done
  [[ ${COMP_WORDS[COMP_CWORD]} == [-=:]* && $at == "$COMP_CWORD" ]] && return 1
  [[ ${COMP_WORDS[COMP_CWORD - 1]} == [=:] && $at == "$COMP_CWORD" ]] && return 1
  if declare -F _command_offset >/dev/null; then
    _command_offset "$at"
  else
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
  fi
}

_mpgtools() {
  # What stands before the cursor without a blank is one word for the program.
  local line=${COMP_LINE:0:COMP_POINT}
  local typed=${line##*[[:space:]]} current=${COMP_WORDS[COMP_CWORD]}
  [[ $current == = ]] && current=
  local start=${typed%"$current"} word

  COMPREPLY=()
  [[ $1 == *mpg@(run|sim|-tune) ]] && _mpgtools_command && return
  if [[ $typed == -* ]]; then
    while IFS=$'\t' read -r word _; do
      # clang repeats an option whose value can be anything. What bash inserts
      # stands in place of the last piece alone.
      [[ $word == "$typed" && $word == *= ]] ||
        COMPREPLY+=("${word#"$start"}")
    done < <("${COMP_WORDS[0]}" --autocomplete="$typed" 2>/dev/null)
  fi
  if ((${#COMPREPLY[@]} > 0)); then
    # An option that takes a value, or a list that may go on: no blank after it.
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

complete -F _mpgtools mpgaudit mpgbench mpginfo mpgrun mpgsim mpg-ocl mpg-tune ld.mpg \
  mpg-clang mpg-clang++ mpg-flang mpgtools-uninstall

# The wrappers of batch systems take the options of these, by their completion
# if there is one.
_mpgtools_submit() {
  local real=${1##*/}
  real=${real%-mpg}
  declare -F _completion_loader >/dev/null && _completion_loader "$real"
  local rule
  rule=$(complete -p "$real" 2>/dev/null) || rule="complete -o default $real"
  eval "${rule% *} $1"
  return 124 # bash asks again, by the new rule
}
complete -F _mpgtools_submit sbatch-mpg pjsub-mpg
