// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs that a script builds or copies into place before it starts them:
// a file that is there now belongs to the job before. make and similar tools
// may build anything: every program that is named with a folder in front,
// outside of folders where only administrators write.

#include "JobScript/JobScript.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

namespace {

/// Files that the commands so far have made.
struct MadeFiles {
  unsigned anyLine = 0; ///< of make and similar tools
  StringMap<unsigned> byName;

  void add(StringRef path, unsigned line) {
    byName.try_emplace(sys::path::filename(path), line);
  }
};

} // namespace

/// "gfortran-12" and "mpif90" as well as "cc".
static bool isCompiler(StringRef name) {
  static constexpr StringLiteral names =
      "cc CC ftn gcc g++ c++ gfortran icc icpc ifort icx icpx ifx clang flang "
      "clang++ nvc nvc++ nvcc hipcc nvfortran fcc FCC frt fccpx FCCpx frtpx "
      "armclang";
  static constexpr StringLiteral mpiEndings =
      "cc CC cxx c++ 77 90 fort frt cpx icx ifx";
  name = name.take_until([](char c) { return c == '-'; });
  return hasWord(names, name) ||
         (name.starts_with("mpi") && name.size() > 4 &&
          any_of(split(mpiEndings, ' '),
                 [&](StringRef ending) { return name.ends_with(ending); }));
}

static bool isFlag(const JobWord &word, StringRef flag) {
  return word.text == flag;
}

/// make, but not "make clean".
static bool buildsAnything(StringRef name, ArrayRef<JobWord> words) {
  auto has = [&](StringRef word) {
    return any_of(words, [&](const JobWord &w) { return isFlag(w, word); });
  };
  if (hasWord("make gmake ninja", name))
    return !(words.size() > 1 &&
             StringRef(words.back().text).contains("clean"));
  if (name == "cmake")
    return has("--build") || has("--install");
  if (hasWord("cargo meson go bazel", name))
    return has("build") || has("compile") || has("install");
  return hasWord("scons waf fpm", name);
}

static void addCompiled(ArrayRef<JobWord> words, unsigned line,
                        MadeFiles &made) {
  if (any_of(words, [](const JobWord &w) { return isFlag(w, "-c"); }))
    return;
  for (size_t i = 1; i < words.size(); ++i) {
    StringRef text = words[i].text;
    if (text == "-o" && i + 1 < words.size())
      return made.add(words[i + 1].text, line);
    if (text.starts_with("-o") && text.size() > 2)
      return made.add(text.drop_front(2), line);
  }
  if (words.size() > 1)
    made.add("a.out", line);
}

/// "cp /a/app .", "mv app.new app": either name may be the program's.
static void addCopied(ArrayRef<JobWord> words, unsigned line, MadeFiles &made) {
  for (const JobWord &word : words.drop_front())
    if (!StringRef(word.text).starts_with("-"))
      made.add(word.text, line);
}

static void addMade(const JobCommand &command, MadeFiles &made) {
  ArrayRef<JobWord> words = command.words;
  while (!words.empty() && StringRef(words[0].text).contains('=') &&
         !StringRef(words[0].text).contains('/'))
    words = words.drop_front(); // "CC=gcc make"
  if (words.empty() || !words[0].known())
    return;
  StringRef name = sys::path::filename(words[0].text);
  if (buildsAnything(name, words)) {
    if (!made.anyLine)
      made.anyLine = command.line;
  } else if (isCompiler(name)) {
    addCompiled(words, command.line, made);
  } else if (hasWord("cp mv ln install rsync scp", name)) {
    addCopied(words, command.line, made);
  }
}

/// Only an administrator puts a program there.
static bool isInstalled(StringRef path) {
  return any_of(split("/usr/ /bin/ /sbin/ /opt/", ' '),
                [&](StringRef folder) { return path.starts_with(folder); });
}

void mpg::findMadePrograms(JobScript &script) {
  MadeFiles made;
  size_t next = 0;
  // Commands of functions are listed where they are called, so both lists are
  // in the order of the run; a launch is one of the commands, too.
  for (JobLaunch &launch : script.launches) {
    for (; next < script.commands.size() && next < launch.commandsBefore;
         ++next)
      addMade(script.commands[next], made);
    StringRef path = launch.program.text;
    if (auto at = made.byName.find(sys::path::filename(path));
        at != made.byName.end() && !isInstalled(path))
      launch.madeLine = at->second;
    else if (path.contains('/') && !isInstalled(path))
      launch.madeLine = made.anyLine;
  }
}
