// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decisions in their order, and what came of them as shell script:
// everything but the export lines is a comment, also where a name from a file
// holds a line feed. And the same as JSON, schema mpgadvice-1
// (docs/schema/mpgadvice-1.schema.json).

#include "Advice/Recommend.h"
#include "Advice/RecommendRules.h"
#include "Support/Format.h"
#include "Support/JsonItem.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mpg;

StringRef mpg::valueIn(const Advice &advice, StringRef name) {
  for (const Recommendation &setting : advice.settings)
    if (setting.name == name)
      return setting.value;
  return "";
}

Advice mpg::recommend(const FileReport &program, const JobScript *script,
                      const JobLaunch *launch,
                      std::optional<uint64_t> memoryBytes,
                      ArrayRef<const Measurement *> measured) {
  static constexpr void (*decisions[])(const AdviceContext &, Advice &) = {
      judgeTlb,          judgeLocality,        advisePagingPolicy,
      adviseRefills,     judgeMalloc,          judgeFaults,
      judgeThrashing,    judgeTheRest,         adviseMemoryOwner,
      adviseFallback,    adviseParallelMalloc, adviseColouring,
      adviseLibraryData, adviseOtherTargets,   adviseBinding,
      advisePassing,     adviseLoading,        adviseRelink,
      advisePlacement,   adviseMemory,         advisePadding,
      adviseProfile,     findContradictions,
  };
  AdviceContext context =
      collectContext(program, script, launch, memoryBytes, measured);
  Advice advice;
  advice.context = describe(context);
  advice.unknown = context.unknown;
  for (auto *decide : decisions)
    decide(context, advice);
  return advice;
}

/// Writes \p text as comment lines of 78 columns. \p first precedes the first
/// line ("- "), as much space the others. Lines that start with two spaces keep
/// their form.
static void writeComment(raw_ostream &out, StringRef first, StringRef text) {
  std::string safe;
  for (StringRef paragraph : split(text, '\n'))
    safe += (safe.empty() ? "" : "\n") + printable(paragraph);
  unsigned indent = 2 + first.size();
  std::string filled = fillText(safe, indent, terminalColumns());
  SmallVector<StringRef, 16> lines;
  StringRef(filled).split(lines, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    StringRef line = lines[i];
    if (i > 0)
      line = line.substr(std::min<size_t>(indent, line.size()));
    out << "# " << (i == 0 ? first.str() : std::string(first.size(), ' '))
        << line << "\n";
  }
}

/// "p.csv (perf stat), rule tlb: 1 walk ...".
static void writeVerdicts(raw_ostream &out, const Advice &advice) {
  for (const RuleVerdict &verdict : advice.verdicts)
    writeComment(out, "",
                 verdict.file + " (" + verdict.tool + "), rule " +
                     verdict.rule + ": " + verdict.text);
}

static void writeSettings(raw_ostream &out, const Advice &advice) {
  for (const Recommendation &setting : advice.settings) {
    writeComment(out, "",
                 (setting.rule.empty() ? "" : "Rule " + setting.rule + ": ") +
                     setting.reason +
                     (setting.alreadySet ? " The job sets it already." : ""));
    out << (advice.isWithheld ? "#   " : "export ") << setting.name << "="
        << setting.value << "\n";
  }
}

static bool nothingToChange(const Advice &advice, bool brief) {
  const std::vector<std::string> &steps = brief ? advice.musts : advice.steps;
  return advice.contradictions.empty() && steps.empty() &&
         all_of(advice.settings, [](const Recommendation &setting) {
           return setting.alreadySet;
         });
}

/// One line, and what it rests on where that was a guess.
static void writeNothing(raw_ostream &out, const Advice &advice,
                         StringRef programPath) {
  writeVerdicts(out, advice);
  out << "# " << printable(programPath) << ": nothing to "
      << (advice.settings.empty() ? "set" : "change") << " ("
      << printable(advice.context);
  for (const std::string &unknown : advice.unknown)
    out << "; " << printable(unknown);
  out << ")\n";
}

/// Writes the brief form: the variables and steps, one line a kind.
static void writeBrief(raw_ostream &out, const Advice &advice,
                       StringRef programPath) {
  out << "# " << printable(programPath) << ": " << printable(advice.context);
  for (const std::string &unknown : advice.unknown)
    out << "; " << printable(unknown);
  out << " (reasons: -v)\n";
  writeVerdicts(out, advice);
  const char *separator = "export ";
  for (const Recommendation &setting : advice.settings) {
    if (setting.alreadySet || advice.isWithheld)
      continue;
    out << separator << setting.name << "=" << setting.value;
    separator = " ";
  }
  if (StringRef(separator) == " ")
    out << "\n";
  for (const std::string &must : advice.musts)
    out << "# " << printable(must) << "\n";
  if (!advice.contradictions.empty()) {
    const Contradiction &first = advice.contradictions.front();
    size_t more = advice.contradictions.size() - 1;
    out << "# in the way: "
        << (first.line ? "line " + std::to_string(first.line) + ": " : "")
        << printable(first.text)
        << (more ? "; and " + std::to_string(more) + " more" : "") << "\n";
  }
}

void mpg::writeAdvice(raw_ostream &out, const Advice &advice,
                      StringRef programPath, bool brief) {
  if (nothingToChange(advice, brief))
    return writeNothing(out, advice, programPath);
  if (brief)
    return writeBrief(out, advice, programPath);
  writeComment(out, "", printable(programPath) + ": " + advice.context);
  for (const std::string &unknown : advice.unknown)
    writeComment(out, "", unknown);
  writeVerdicts(out, advice);
  writeSettings(out, advice);
  if (!advice.contradictions.empty())
    out << "# In the way:\n";
  for (const Contradiction &contradiction : advice.contradictions)
    writeComment(out, "- ",
                 (contradiction.line
                      ? "line " + std::to_string(contradiction.line) + ": "
                      : "") +
                     contradiction.text);
  if (!advice.steps.empty())
    out << "# What else to do:\n";
  for (const std::string &step : advice.steps)
    writeComment(out, "- ", step);
}

// For programs

void mpg::writeAdviceJson(raw_ostream &out, const Advice &advice,
                          StringRef programPath) {
  auto verdict = [](const RuleVerdict &one) {
    return JsonObject{{"rule", one.rule},
                      {"file", one.file},
                      {"tool", one.tool},
                      {"text", one.text}};
  };
  auto setting = [](const Recommendation &one) {
    return JsonObject{{"name", one.name},
                      {"value", one.value},
                      {"reason", one.reason},
                      {"rule", one.rule},
                      {"already_set", one.alreadySet}};
  };
  auto contradiction = [](const Contradiction &one) {
    return JsonObject{{"line", one.line}, {"text", one.text}};
  };
  writeJson(out, JsonObject{{"program", programPath},
                            {"context", advice.context},
                            {"unknown", advice.unknown},
                            {"measured", jsonList(advice.verdicts, verdict)},
                            {"settings", jsonList(advice.settings, setting)},
                            {"in_the_way",
                             jsonList(advice.contradictions, contradiction)},
                            {"steps", advice.steps}});
}

// Decides the steps beside variables: load the library, relink, place data.

/// As the script has it, where that needs no quotes.
static std::string programWord(const AdviceContext &context) {
  std::string word = context.program.path;
  if (context.launch && !context.launch->program.text.empty())
    word = context.launch->program.text;
  bool plain = !word.empty() && all_of(word, [](char c) {
    return isAlnum(c) || StringRef("./_-+").contains(c);
  });
  return plain ? word : "PROGRAM";
}

/// Whether -x names what Open MPI's mpirun passes on: other nodes get no more.
static bool namesVariables(const JobLaunch &launch) {
  return any_of(launch.launchers, [](const JobCommand &launcher) {
    return sys::path::filename(launcher.words[0].text) == "mpirun" &&
           any_of(launcher.words,
                  [](const JobWord &word) { return word.text == "-x"; });
  });
}

/// Settings that the program would not get by an export. Call when they are
/// complete.
void mpg::advisePassing(const AdviceContext &context, Advice &advice) {
  std::string values, names;
  for (Recommendation &setting : advice.settings) {
    setting.alreadySet = context.isSet(setting.name, setting.value);
    if (setting.alreadySet)
      continue;
    values += " " + setting.name + "=" + setting.value;
    names += " -x " + setting.name;
  }
  if (values.empty() || !context.launch)
    return;
  std::string what, line;
  if (std::string by = context.launch->withheldBy; !by.empty()) {
    advice.isWithheld = true;
    what = by + " passes no export on";
    line = "env" + values + " " + programWord(context) + " ...";
  } else if (namesVariables(*context.launch)) {
    what = "mpirun -x gives other nodes only what it names";
    line = "mpirun" + names + " ...";
  } else {
    return;
  }
  advice.musts.push_back(what + ", write: " + line);
  advice.steps.push_back(what + ", write:\n  " + line);
}

void mpg::adviseLoading(const AdviceContext &context, Advice &advice) {
  if (!context.isProgram() || !context.isLibmpg() ||
      context.pagesOffByChoice() || context.pagesGainLittle() ||
      context.program.has(FindingId::mpg112)) // static: the relink says how
    return;
  if (context.target == Target::mpg) {
    if (context.needs("libmpgrt.so") || context.launcher("mpgrun"))
      return;
    std::string line = "mpgrun " + programWord(context);
    if (StringRef option = context.program.memory.option(); !option.empty())
      line += " " + option.str();
    advice.musts.push_back("start it as: " + line + " ...");
    advice.steps.push_back("Nothing loads libmpg into the program: start it "
                           "with mpgrun, after mpiexec or srun.\n  " +
                           line + " ...");
    return;
  }
  if (!context.needs("libmpg.so")) // HW:fugaku-paths
    advice.steps.push_back(
        "Nothing loads libmpg into the program: link it with fcc, FCC or frt "
        "and -Klargepage, or with another compiler and, in front of the C "
        "library,\n  -L/opt/FJSVxos/mmm/lib64 -Wl,--no-as-needed -lmpg");
}

/// The finding's own remedy: it knows the linker and where ld.mpg is. Command
/// lines that an earlier step has are not repeated.
static void addRemedy(const AdviceContext &context, const Finding &finding,
                      Advice &advice) {
  std::string words, commands;
  SmallVector<StringRef, 8> lines;
  std::string fix = fixText(finding, context.program.fixContext);
  StringRef(fix).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    if (line.starts_with("  "))
      commands += "\n" + line.str();
    else
      words += (words.empty() ? "" : " ") + line.str();
  bool repeated =
      !commands.empty() && any_of(advice.steps, [&](const std::string &step) {
        return StringRef(step).contains(commands);
      });
  std::string title = finding.title;
  if (!title.empty())
    title[0] = toUpper(title[0]);
  advice.steps.push_back(title + " (" + idText(finding.id) + "): " + words +
                         (repeated ? " The lines are those above." : commands));
}

/// All that a link command has to become, in one line.
static std::string relinkLine(const AdviceContext &context,
                              ArrayRef<const Finding *> findings) {
  std::string ids, flags;
  for (const Finding *finding : findings) {
    std::string fix = fixText(*finding, context.program.fixContext);
    StringRef line = StringRef(fix).split("\n  ").second.split('\n').first;
    if (line.contains("go build")) // its linker takes no flags of ours
      return "build it (" + idText(finding->id) + ") with: " + line.str();
    StringRef own = line.split(':').second.trim();
    ids += (ids.empty() ? "" : ", ") + idText(finding->id);
    if (!StringRef(flags).contains(own))
      flags += " " + own.str();
  }
  return "relink it (" + ids + ")" +
         (flags.empty() ? ": -v says how" : " with:" + flags);
}

void mpg::adviseRelink(const AdviceContext &context, Advice &advice) {
  if (context.pagesOffByChoice() || context.pagesGainLittle())
    return;
  std::vector<const Finding *> found;
  for (const Finding &finding : context.program.findings)
    if (finding.severity >= Severity::warning && finding.via.empty() &&
        is_contained({FindingId::mpg102, FindingId::mpg103, FindingId::mpg112,
                      FindingId::mpg150},
                     finding.id)) {
      addRemedy(context, finding, advice);
      found.push_back(&finding);
    }
  if (!found.empty())
    advice.musts.push_back(relinkLine(context, found));
}

void mpg::advisePlacement(const AdviceContext &context, Advice &advice) {
  if (context.reach != ThreadReach::severalNodes || context.isLocal() == true)
    return;
  advice.steps.push_back(
      "Let each array be initialised by the threads that will use it, with the "
      "schedule of the use: what one thread fills lies on its node under every "
      "policy. MpgPasses.so finds the arrays where it is not so:\n"
      "  mpg-clang -O2 -fopenmp -Rpass-missed=mpg ...");
  advice.steps.push_back(
      "Give each node a copy of tables that all threads only read, and an "
      "output buffer of its own (mpg_replicate, or one allocation for each "
      "node). Fujitsu's guide, 15.4 and 15.5: 434.6 GB/s on four CMGs, 138.2 "
      "with one output for all.");
  if (context.coreGroups && context.ranks() < 4 && context.needs("libmpi"))
    advice.steps.push_back(
        "Or start 4 processes a node with 12 threads each: then no memory is "
        "on another core memory group, and the default policy is right.");
}

/// With demand .bss is there once; .data is copied all the same.
static uint64_t computeMinStartupBytes(const AdviceContext &context) {
  const Facts &facts = context.program.facts;
  if (context.target != Target::fugaku)
    return context.startupBytes();
  uint64_t bytes = SaturatingMultiply<uint64_t>(facts.dataBytes.value_or(0), 2);
  return SaturatingMultiply<uint64_t>(
      SaturatingAdd<uint64_t>(bytes, facts.bssBytes.value_or(0)),
      context.ranks());
}

static std::string largestNames(const AdviceContext &context) {
  std::string names;
  for (const LargeSymbol &symbol : context.program.largestSymbols)
    names += (names.empty() ? " (" : ", ") + symbol.name + ", " +
             formatBytes(symbol.bytes);
  return names.empty() ? "" : names + ")";
}

void mpg::adviseMemory(const AdviceContext &context, Advice &advice) {
  if (!context.memoryBytes || context.pagesOffByChoice())
    return;
  std::string memory = formatBytes(*context.memoryBytes);
  uint64_t min = computeMinStartupBytes(context);
  if (min > *context.memoryBytes) {
    advice.steps.push_back(
        "Start-up needs " + formatBytes(min) + " at least, a node has " +
        memory +
        ": start fewer processes on a node, or allocate the largest arrays at "
        "run time" +
        largestNames(context) + ".");
    return;
  }
  if (context.target == Target::fugaku && context.memoryIsTight() &&
      valueIn(advice, "XOS_MMM_L_HUGETLB_FALLBACK").empty())
    advice.steps.push_back(
        "Static data alone takes " + formatBytes(context.staticBytes()) +
        " of " + memory +
        " of a node. XOS_MMM_L_HUGETLB_FALLBACK=1 is no help: it needs prepage "
        "for mmap and shared arenas. Where the job is killed for memory, start "
        "fewer processes on a node.");
}

void mpg::advisePadding(const AdviceContext &context, Advice &advice) {
  if (!context.program.has(FindingId::mpg210))
    return;
  for (const Finding &finding : context.program.findings)
    if (finding.id == FindingId::mpg210)
      addRemedy(context, finding, advice);
  if (context.target == Target::fugaku &&
      valueIn(advice, "MALLOC_MMAP_THRESHOLD_").empty())
    advice.steps.push_back(
        "If such arrays come from malloc as well, try MALLOC_MMAP_THRESHOLD_=" +
        std::to_string(equalBlocksThreshold) +
        " (Fujitsu's guide, 7.5: half the L1 misses); it has no effect beside "
        "XOS_MMM_L_ARENA_FREE=2, and each such block takes large pages of its "
        "own.");
}

/// Recommends a profile where program and script do not suffice. Silent where
/// all is well: one line already says that nothing is needed.
void mpg::adviseProfile(const AdviceContext &context, Advice &advice) {
  if (advice.settings.empty() && advice.steps.empty())
    return;
  if (!context.isLibmpg() || !context.foreignMalloc().empty() ||
      context.reach == ThreadReach::oneThread ||
      !valueIn(advice, "XOS_MMM_L_ARENA_LOCK_TYPE").empty() ||
      !valueIn(advice, "XOS_MMM_L_ARENA_FREE").empty() ||
      !valueIn(advice, "XOS_MMM_L_HUGETLB_FALLBACK").empty() ||
      context.environment.find("XOS_MMM_L_ARENA_LOCK_TYPE") ||
      context.environment.find("XOS_MMM_L_ARENA_FREE") ||
      context.environment.find("XOS_MMM_L_HUGETLB_FALLBACK"))
    return;
  bool blocksAreKnown = any_of(context.measured, [](const Measurement *from) {
    return !from->objects.empty();
  });
  std::string text = "If a profile shows threads that wait in malloc, try "
                     "XOS_MMM_L_ARENA_LOCK_TYPE=0 (Fujitsu's guide, 7.4: 1.60 "
                     "times as fast)";
  if (!blocksAreKnown)
    text += "; if it shows large blocks that come and go (mpgrun --profile), "
            "XOS_MMM_L_ARENA_FREE=2 (7.3: the second malloc 1,033 times as "
            "fast; memory is never given back). Never both: the second "
            "switches the first off";
  advice.steps.push_back(text + ".");
}
