// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG235: compile lines in a job script whose flags do not go together. Only
// what can be said from the line alone: the file itself is audited elsewhere.

#include "JobRules/RuleContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace mpg;

namespace {
enum class Compiler : uint8_t { none, fujitsu, other };
} // namespace

static Compiler compilerOf(StringRef name) {
  name.consume_front("mpi");
  name.consume_back("px"); // the cross compilers of the login nodes
  if (is_contained({"fcc", "FCC", "frt"}, name))
    return Compiler::fujitsu;
  for (StringRef prefix :
       {"gcc", "g++", "gfortran", "clang", "flang", "armclang"})
    if (name == prefix || name.starts_with((prefix + "-").str()) ||
        name.ends_with(("-" + prefix).str()))
      return Compiler::other;
  return Compiler::none;
}

/// The first word of \p command that satisfies \p matches; null if none does.
static const JobWord *findWord(const JobCommand &command,
                               function_ref<bool(StringRef)> matches) {
  for (const JobWord &word : command.words)
    if (matches(word.text))
      return &word;
  return nullptr;
}

static bool has(const JobCommand &command, StringRef flag) {
  return findWord(command, [&](StringRef word) { return word == flag; });
}

/// "-Kfast,ocl,hpctag": its parts stand between commas.
static bool hasKOption(StringRef word, StringRef part) {
  SmallVector<StringRef, 8> parts;
  if (!word.consume_front("-K"))
    return false;
  word.split(parts, ',');
  return is_contained(parts, part);
}

static Finding &report(JobContext &job, const JobCommand &command,
                       const char *sub, StringRef symbol, const Twine &title) {
  Finding &finding =
      job.add(FindingId::mpg235, command.line, command.conditional, title);
  finding.sub = sub;
  finding.where.symbol = symbol.str();
  finding.evidence = commandText(command.words);
  return finding;
}

/// The last of -Klargepage and -Knolargepage counts.
static void checkLargePageOption(JobContext &job, const JobCommand &command) {
  StringRef last;
  for (const JobWord &word : command.words)
    for (StringRef option : {"largepage", "nolargepage"})
      if (hasKOption(word.text, option))
        last = option;
  // Libraries are meant to be built so.
  if (last != "nolargepage" || has(command, "-c") || has(command, "-shared"))
    return;
  Finding &finding =
      report(job, command, "nolargepage", "-Knolargepage",
             "-Knolargepage: the program is linked without large pages");
  bool expected = any_of(job.script.settings, [](const JobSetting &setting) {
    return StringRef(setting.name).starts_with("XOS_MMM_L_");
  });
  if (!expected)
    finding.severity = Severity::note;
  finding.setFix("Take it out: -Klargepage is the default.");
}

/// What stands in front of -lmpg serves malloc and pthread_create.
static void checkLibraryOrder(JobContext &job, const JobCommand &command) {
  StringRef before;
  for (const JobWord &word : command.words) {
    StringRef text = word.text;
    if (text == "-lc" || text == "-lpthread")
      before = before.empty() ? text : before;
    if (text != "-lmpg" && text != "-lmpgrt")
      continue;
    if (!before.empty())
      report(job, command, "order", text,
             before + " stands in front of " + text +
                 ": malloc comes from the C library")
          .setFix(("Write " + text + " in front of -lc and -lpthread.").str());
    return;
  }
}

/// Clang mode has other names for two options of the traditional mode.
static void checkMode(JobContext &job, const JobCommand &command) {
  const JobWord *word = findWord(command, [](StringRef text) {
    return hasKOption(text, "hpctag") || hasKOption(text, "ocl");
  });
  if (!word || !has(command, "-Nclang"))
    return;
  bool tags = hasKOption(word->text, "hpctag");
  StringRef option = tags ? "-Khpctag" : "-Kocl";
  report(job, command, "mode", option,
         option + " is an option of the traditional mode, and -Nclang stands "
                  "beside it")
      .setFix(tags ? "With -Nclang write -ffj-hpctag instead of -Khpctag. The "
                     "directives of the sector cache need the traditional "
                     "mode: -Nnoclang."
                   : "Take -Nclang out: -Nnoclang reads the directives.");
}

static void checkLibmpg(JobContext &job, const JobCommand &command,
                        Compiler compiler) {
  auto isScript = [](StringRef text) { return text.contains("bss-2mb.lds"); };
  bool linksLibmpg = has(command, "-lmpg") || findWord(command, isScript);
  // FORT90L=-Wl,-T is an option at run time, and an assignment is no word.
  if (!linksLibmpg || has(command, "-c"))
    return;
  if (has(command, "-static")) {
    report(job, command, "static", "-static",
           "-static and libmpg: the library is a shared one")
        .setFix("Take -static out.");
    return;
  }
  if (compiler == Compiler::other && !has(command, "-no-pie") &&
      !has(command, "-shared"))
    report(job, command, "pie", "-no-pie",
           "the program is linked with libmpg and without -no-pie")
        .setFix("Add -no-pie: most compilers make position independent "
                "programs by default, which libmpg leaves alone (LPG 2002).");
}

void mpg::checkCompileLines(JobContext &job) {
  if (!job.wants(FindingId::mpg235))
    return;
  for (const JobCommand &command : job.script.commands) {
    if (command.words.empty())
      continue;
    Compiler compiler = compilerOf(baseName(command.words[0].text));
    if (compiler == Compiler::none)
      continue;
    if (compiler == Compiler::fujitsu)
      checkMode(job, command);
    if (compiler == Compiler::fujitsu)
      checkLargePageOption(job, command);
    checkLibraryOrder(job, command);
    checkLibmpg(job, command, compiler);
  }
}
