# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# fish completion for the programs of mpgtools. Each program itself knows its
# options and their values; this file only asks it.

function __mpgtools_options
    set -l program (commandline -opc)[1]
    set -l typed (commandline -ct)
    string match -q -- '-*' $typed; or return
    $program --autocomplete=$typed 2>/dev/null
end

# Before the program of mpgrun, mpgsim or mpg-tune stand options alone; nothing after it is
# theirs.
function __mpgtools_before_program
    for word in (commandline -opc)[2..-1]
        string match -q -- '--' $word; and return 1
        string match -q -- '-*' $word; or return 1
    end
end

for program in mpgaudit mpgbench mpginfo mpg-ocl ld.mpg mpg-clang mpg-clang++ mpg-flang mpgtools-uninstall
    complete -c $program -a '(__mpgtools_options)'
end
for program in mpgrun mpgsim mpg-tune
    complete -c $program -n __mpgtools_before_program -a '(__mpgtools_options)'
    complete -c $program -a '(__fish_complete_subcommand)'
end
complete -c sbatch-mpg --wraps sbatch
complete -c pjsub-mpg --wraps pjsub
