// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of common tools: commands that are not programs of the job, and tools
// that start programs which no word of theirs names. A missing name does little
// harm: a name without a slash and without a launcher does not count as a
// program of the job either.

#include "JobScript/Launchers.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

static constexpr StringLiteral commonTools =
    ". : FCC FCCpx [ addr2line alias apt apt-get ar arch armclang armflang "
    "autoconf awk "
    "b2sum base64 basename bc bg bind bjobs break bsub builtin bzip2 c++ "
    "caller cat cc cd chgrp chmod chown cksum clang clang++ clear cmake cmp "
    "column comm command compgen complete conda configure continue cp cpio "
    "csplit ctest curl cut date dd declare df diff dirname dirs disown dmesg "
    "dnf dpkg du echo egrep emacs enable env eval exec exit expand export expr "
    "false "
    "fapppx fc fcc fccpx fg fgrep find fipppx flang fold free frt frtpx g++ "
    "gawk gcc "
    "getconf getopts gfortran git gmake gnuplot grep groups gunzip gzip hash "
    "head help history host hostid hostname icc icpc icpx icx id ifconfig "
    "ifort ifx install ip jobs join kill killall ld ldd less let lfs link "
    "llio_transfer ln local locale logger logname logout lpgparm ls lscpu "
    "lsof m4 make mamba mapfile md5sum micromamba mkdir mkfifo mktemp ml "
    "module more mount mpiFCC mpiFCCpx mpic++ mpicc mpicxx mpif77 mpif90 "
    "mpifcc mpifccpx mpifort mpifrt mpifrtpx mv nano ninja nl nm nproc "
    "numastat nvc nvc++ nvcc nvfortran nvidia-smi oarstat oarsub objdump od "
    "paste "
    "patch pgrep pip pip3 pjacl pjdel pjhold pjstat pjsub pkill popd pr "
    "printenv printf ps pushd pwd qalter qdel qstat qsub read readarray "
    "readelf readlink readonly realpath reset return rm rmdir rpm rsync sacct "
    "salloc sbatch sbcast scancel scontrol scp screen sed seq set sftp sha1sum "
    "sha256sum shift shopt shred shuf sinfo sleep sort source spack split "
    "sqlite3 squeue ssh sstat stat strings strip stty sum suspend sync sysctl "
    "tac tail tar tee test times tmux top touch tput tr trap true truncate "
    "tsort tty type typeset ulimit umask unalias uname unexpand uniq unlink "
    "unset unzip uptime users vi vim virtualenv vmstat w wait watch wc wget "
    "which who whoami xargs xospastart xospastop xz yes yum zcat zip zstd";

static constexpr StringLiteral interpreters =
    "R Rscript bash csh dash java julia ksh lua node nodejs octave perl php "
    "pypy3 python python2 python3 ruby sh tcsh zsh";

bool mpg::isCommonTool(StringRef name) {
  static const StringSet<> tools = [] {
    StringSet<> all;
    for (StringRef tool : split(commonTools, ' '))
      all.insert(tool);
    return all;
  }();
  return tools.contains(name);
}

bool mpg::isInterpreter(StringRef name) {
  // python3.11
  if (name.starts_with("python3."))
    return true;
  return hasWord(interpreters, name);
}

bool mpg::isShell(StringRef name) {
  return hasWord("sh bash dash ksh zsh ash mksh csh tcsh", name);
}

bool mpg::isContainerTool(StringRef name) {
  return hasWord("docker podman podman-hpc sarus udocker enroot", name);
}

/// Names of what a build tool, or a tool for workflows, makes by starting it.
static bool meansStart(StringRef word) {
  static constexpr StringLiteral parts[] = {"bench", "check", "exec", "launch",
                                            "run",   "start", "test"};
  return !word.starts_with("-") && !word.contains('/') &&
         any_of(parts, [&](StringRef part) { return word.contains(part); });
}

/// Commands that start programs which a file names: "make run", "ctest".
static bool isRunner(StringRef name, ArrayRef<JobWord> arguments) {
  static constexpr StringLiteral always =
      "batch ctest cylc ecflow expect jube maestro merlin nix-shell "
      "radical-pilot reframe screen snakemake tmux toil";
  static constexpr StringLiteral byVerb =
      "bazel cargo cmake cwltool dotnet fpm go gmake just make meson mvn "
      "nextflow ninja npm rake ramble scons task uenv waf";
  static constexpr std::pair<StringLiteral, StringLiteral> verbs[] = {
      {"flux", "batch"},
      {"guix", "shell"},
      {"nix", "develop"},
      {"scl", "enable"},
      {"spack", "build-env"}};
  if (hasWord(always, name))
    return true;
  bool hasVerb = hasWord(byVerb, name);
  return any_of(arguments, [&](const JobWord &word) {
    return (hasVerb && meansStart(word.text)) ||
           any_of(verbs, [&](const auto &verb) {
             return verb.first == name && verb.second == word.text;
           });
  });
}

bool mpg::isElsewhere(ArrayRef<JobWord> words) {
  if (words.size() < 2)
    return false;
  StringRef name = sys::path::filename(words[0].text), verb = words[1].text;
  if (hasWord("conda mamba micromamba poetry pipenv pixi uv", name))
    return verb == "run";
  return hasWord("bsub shifter ch-run chroot bwrap proot", name) ||
         (isContainerTool(name) &&
          (verb == "run" || verb == "exec" || verb == "start"));
}

std::string mpg::whatElsewhere(ArrayRef<JobWord> words) {
  if (isElsewhere(words))
    return "the program that " + words[0].text + " starts somewhere else";
  if (words.empty() ||
      !isRunner(sys::path::filename(words[0].text), words.drop_front()))
    return "";
  const auto *verb = find_if(words.drop_front(), [](const JobWord &word) {
    return meansStart(word.text);
  });
  if (verb == words.end() && words.size() > 1)
    verb = words.begin() + 1;
  return "what " + words[0].text +
         (verb != words.end() ? " " + verb->text : "") + " starts";
}
