// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --explain: the rows of Findings.def, VendorCodes.def and FccWords.def as a
// page to read, offline; of a line that is pasted, what is known in it.

#include "Audit/Audit.h"
#include "Audit/Finding.h"
#include "Support/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Regex.h"

using namespace llvm;
using namespace mpg;

static std::string filled(const Twine &text) {
  return fillText(text.str(), 2, terminalColumns());
}

static void appendPart(std::string &page, StringRef label, StringRef text) {
  if (text.empty())
    return;
  page += "\n" + label.str() + ":\n  " + filled(text) + "\n";
}

static std::string explainFinding(const FindingInfo &info,
                                  const InstalledParts &parts) {
  std::string page = idText(info.id);
  if (!info.vendor.empty())
    page += (" (" + info.vendor + ")").str();
  page += (": " + info.summary + "\n\n").str();
  page += ("  group: " + groupName(info.group) + "\n").str();
  page += "  severity:";
  for (unsigned i = 0; i < targetCount; ++i)
    page += (Twine(i ? ", " : " ") + targetName(Target(i)) + " " +
             severityName(info.severity[i]))
                .str();
  page += "\n";
  appendPart(page, "rule", info.rule);
  appendPart(page, "cost", info.cost);
  appendPart(page, "remedy", withPaths(info.remedy, parts));
  appendPart(page, "source", info.source);
  return page;
}

static std::string explainVendorCode(const VendorCode &code,
                                     const InstalledParts &parts) {
  std::string page = (code.code + ", a message of Fujitsu's software\n").str();
  appendPart(page, "meaning", code.meaning);
  appendPart(page, "what to do", code.action);
  SmallVector<StringRef, 4> related;
  code.related.split(related, ", ", -1, /*KeepEmpty=*/false);
  for (StringRef id : related) {
    unsigned number = 0;
    if (id.consume_front("MPG") && !id.getAsInteger(10, number))
      if (const FindingInfo *info = findInfo(number))
        page += "\n" + explainFinding(*info, parts);
  }
  if (related.empty())
    page += "\nmpgaudit has no finding for it: only a run can show it.\n";
  return page;
}

/// "lpg 2003", "LPG2003" and "LPG 2003" are the same number.
static std::string normalized(StringRef code) {
  std::string text;
  for (char c : code)
    if (c != ' ' && c != '-' && c != '_')
      text += toUpper(c);
  return text;
}

/// \p wanted is normalized.
static std::string explainCode(const std::string &wanted,
                               const InstalledParts &parts) {
  for (const VendorCode &vendor : allVendorCodes())
    if (normalized(vendor.code) == wanted)
      return explainVendorCode(vendor, parts);
  for (const FindingInfo &info : allFindings())
    if (idText(info.id) == wanted)
      return explainFinding(info, parts);
  return "";
}

/// The heading of a page about \p word of Fujitsu's compilers.
static std::string fccHeading(StringRef word, StringRef kind) {
  StringRef text = kind == "not"         ? "there is nothing for it"
                   : kind == "byDefault" ? "the default of clang and flang"
                   : kind == "older"     ? "for K and FX10 (SPARC), "
                                           "not for A64FX"
                                         : kind;
  return (word + ", of Fujitsu's compilers: " + text + "\n\n").str();
}

/// A directive of Fujitsu's, without its arguments; "" for another word.
static std::string explainDirective(StringRef word) {
  static constexpr struct {
    const char *word, *kind, *fortran, *c;
  } table[] = {
#define MPG_OCL_WORD(word, kind, fortran, c) {word, #kind, fortran, c},
#include "Ocl/OclWords.def"
  };
  for (auto [known, kind, fortran, c] : table)
    if (word.equals_insensitive(known))
      return fccHeading(known, kind) + "  " +
             filled("Fortran: " + StringRef(fortran).str() + ".") + "\n" +
             (*c ? "  " + filled("C: " + StringRef(c).str() + ".") + "\n" : "");
  return "";
}

/// "-Kzfill", "-Kcmodel=large", "NOVREC": what Fujitsu's compilers take.
static std::string explainFccWord(StringRef word) {
  static constexpr struct {
    const char *word, *kind, *answer;
  } table[] = {
#define MPG_FCC_WORD(word, kind, answer) {word, #kind, answer},
#include "Audit/FccWords.def"
  };
  word = word.trim().take_until([](char c) { return strchr("=( ", c); });
  // -Cpp is Fujitsu's, -cpp is everybody's.
  bool anyCase = !word.starts_with("-") || word.starts_with_insensitive("-k");
  for (auto [known, kind, answer] : table)
    if (anyCase ? word.equals_insensitive(known) : word == known)
      return fccHeading(known, kind) + "  " + filled(answer) + "\n";
#define MPG_ENV(name, type, values, deflt, needs, more, group, help)           \
  if (word == #name)                                                           \
    return #name ": ours, with the same name and values\n\n  " help            \
                 "\n  values: " values "; default: " +                         \
           std::string(*deflt ? deflt : "none") + "\n";
#include "mpg/env.def"
  return explainDirective(word);
}

/// Takes what makes a line one of directives from the front of \p line.
static bool eatSentinel(StringRef &line) {
  line = line.trim();
  if (line.consume_front_insensitive("!OCL") ||
      line.consume_front_insensitive("COCL") ||
      line.consume_front_insensitive("*OCL"))
    return true;
  if (!line.consume_front("#pragma "))
    return false;
  line = line.ltrim();
  line.consume_front("fj ");
  line = line.ltrim();
  for (StringRef scope : {"loop ", "statement ", "procedure ", "global "})
    if (line.consume_front(scope))
      break;
  return true;
}

/// Each directive of a line of them; "" if none is known.
static std::string explainDirectives(StringRef line) {
  std::string page;
  bool isKnown = false, isPragma = !line.starts_with_insensitive("!");
  if (!eatSentinel(line))
    return "";
  int depth = 0;
  while (!line.empty()) {
    StringRef word =
        line.take_while([](char c) { return isAlnum(c) || c == '_'; });
    if (!word.empty() && depth == 0) {
      std::string part = explainDirective(word);
      isKnown |= !part.empty();
      page += (page.empty() ? "" : "\n") +
              (part.empty() ? word.upper() + ": not known here\n" : part);
      if (isPragma)
        break; // what follows are its arguments
    }
    char next = line.drop_front(word.size()).empty() ? ' ' : line[word.size()];
    depth += (next == '(') - (next == ')');
    line = line.drop_front(std::min(word.size() + 1, line.size()));
  }
  return isKnown ? page : "";
}

/// The page of the first number in \p line that has one: a line of a report
/// or of a job's output, as people paste it.
static std::string explainLine(StringRef line, const InstalledParts &parts) {
  static const Regex number(
      "(^|[^[:alnum:]])((MPG|LPG|FHE)[ _-]?[0-9]+)($|[^[:alnum:]])",
      Regex::IgnoreCase);
  SmallVector<StringRef, 5> match;
  while (number.match(line, &match)) {
    std::string page = explainCode(normalized(match[2]), parts);
    if (!page.empty())
      return page;
    line = line.substr(size_t(match[2].end() - line.begin()));
  }
  return "";
}

/// Explains words of job scripts, which are not words of Fujitsu's compilers.
static std::string explainJobWord(StringRef word) {
  static constexpr struct {
    const char *word, *answer;
  } table[] = {
      {"OMP_NUM_THREADS", "threads of a process; more than 12 of them on A64FX "
                          "are on several core memory groups (MPG225)"},
      {"OMP_PROC_BIND", "keeps a thread beside the memory it touched first "
                        "(MPG190, MPG237)"},
      {"OMP_PLACES", "where threads are bound to; see OMP_PROC_BIND"},
      {"OMP_STACKSIZE", "the stack of a thread (MPG234)"},
      {"PARALLEL", "threads of a loop that Fujitsu's -Kparallel made parallel; "
                   "with clang and flang OMP_NUM_THREADS counts"},
      {"LD_PRELOAD", "libraries in front of all others: large pages without "
                     "relinking, or another malloc (MPG229, MPG236)"},
      {"LD_LIBRARY_PATH", "folders that the loader searches (MPG121, MPG230)"},
      {"mpirun",
       "Open MPI's gives ranks of other nodes no variable of yours but those "
       "named by -x NAME or -x NAME=VALUE; MPICH's (Hydra) gives them all, and "
       "-genv NAME VALUE adds one. Behind it mpgrun sets in each rank what "
       "libmpg needs: mpirun -n 4 mpgrun ./app"},
      {"mpiexec",
       "that of MPICH, and srun, give ranks all variables; those of Open MPI "
       "and of Fujitsu have -x NAME=VALUE, MPICH's -genv NAME VALUE. Behind it "
       "mpgrun sets in each rank what libmpg needs: mpiexec -n 4 mpgrun ./app"},
      {"srun",
       "gives ranks all variables, unless --export names some: "
       "--export=ALL,NAME=VALUE adds one, --export=NAME=VALUE takes the others "
       "away. Behind it mpgrun sets in each rank what libmpg needs: srun "
       "mpgrun ./app"},
      {"fhetbo", "switches the tags in addresses on or off for all cores of "
                 "the job (MPG231)"},
      {"numactl", "binds CPUs and memory; jobs have CPUs 12 to 59 and nodes 4 "
                  "to 7 where 0 to 11 are the system's (MPG227)"},
      {"taskset", "binds CPUs; see numactl (MPG227)"},
      {"ulimit", "limits; -s is the stack (MPG234)"},
      {"llio_transfer", "copies a file to the nodes; it starts nothing"},
      {"max-proc-per-node", "processes of a node: each pages its static data "
                            "in when it starts (MPG226)"},
      {"ntasks-per-node", "processes of a node: each pages its static data in "
                          "when it starts (MPG226)"},
      {"cpus-per-task", "CPUs of a process; OMP_NUM_THREADS says how many "
                        "threads it has"},
      {"proc-stack", "the stack limit of the processes (MPG234)"}};
  for (auto [known, answer] : table)
    if (word == known)
      return (word + ": " + answer + "\n").str();
  return "";
}

/// "-Kfast,openmp" as "-Kfast" and "-Kopenmp"; "NAME=VALUE" and "--NAME=VALUE"
/// as NAME; a program by its file name.
static std::vector<std::string> wordsToExplain(StringRef text) {
  std::vector<std::string> words;
  if (text.starts_with("-K") || text.starts_with("-N")) {
    for (StringRef item : split(text.drop_front(2), ','))
      words.push_back((text.take_front(2) + item).str());
    return words;
  }
  words.push_back(text.str());
  StringRef name = text.ltrim('-').split('=').first;
  words.push_back(name.substr(name.rfind('/') + 1).str());
  return words;
}

/// Whether only Fujitsu's compilers have such an option.
static bool isFccOption(StringRef word) {
  return word.starts_with("-ffj-") ||
         (word.size() > 2 && word.starts_with("-K") && isAlpha(word[2]));
}

/// A line of a job script or of a build: one paragraph for each word that is
/// known, and one for options that only Fujitsu's compilers can have.
static std::string explainJobLine(StringRef line) {
  constexpr size_t longestLine = 4096;
  std::string page;
  bool isKnown = false;
  StringSet<> told;
  SmallVector<StringRef, 16> items;
  SplitString(line.take_front(longestLine), items, " \t\n\"';");
  for (StringRef item : items)
    for (const std::string &word : wordsToExplain(item)) {
      // "simd" alone is a word of many others.
      bool special =
          StringRef(word).starts_with("-") || StringRef(word).contains('_');
      std::string part = special ? explainFccWord(word) : "";
      if (part.empty())
        part = explainJobWord(word);
      isKnown |= !part.empty();
      if (part.empty() && isFccOption(word))
        part = word + ", of Fujitsu's compilers: not known here\n";
      if (!part.empty() && told.insert(part).second)
        page += (page.empty() ? "" : "\n") + part;
    }
  return isKnown ? page : "";
}

std::string mpg::explain(StringRef code, const InstalledParts &parts) {
  StringRef digits = code.trim();
  if (!digits.empty() && all_of(digits, isDigit)) {
    for (StringRef series : {"MPG", "LPG", "FHE"})
      if (std::string page = explainCode((series + digits).str(), parts);
          !page.empty())
        return page;
    return "";
  }
  std::string page = explainCode(normalized(code), parts);
  if (page.empty())
    page = explainDirectives(code);
  if (page.empty() && !code.trim().contains(" -")) // else a line of options
    page = explainFccWord(code);
  if (page.empty())
    page = explainLine(code, parts);
  return page.empty() ? explainJobLine(code) : page;
}
