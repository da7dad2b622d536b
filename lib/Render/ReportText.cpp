// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports for people: text and line formats.

#include "Audit/ClosureFacts.h"
#include "Audit/Launch.h"
#include "Render/Report.h"
#include "Support/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mpg;

static std::string paint(StringRef text, const char *code, bool colour) {
  return colour ? ("\033[" + Twine(code) + "m" + text + "\033[0m").str()
                : text.str();
}

static std::string severityText(Severity severity, bool colour) {
  const char *code = severity == Severity::error     ? "1;31"
                     : severity == Severity::warning ? "1;35"
                                                     : "1;36";
  return paint(severityName(severity), code, colour);
}

/// "MPG103 (LPG 2003)"
static std::string codeText(FindingId id) {
  StringRef vendor = getInfo(id).vendor;
  return vendor.empty() ? idText(id) : (idText(id) + " (" + vendor + ")").str();
}

/// \p folds: at the width of a terminal.
static void writeFindingLine(raw_ostream &out, StringRef path,
                             const Finding &finding, bool colour, bool folds) {
  std::string place = printable(path) + ":";
  if (finding.where.line)
    place += std::to_string(*finding.where.line) + ":";
  std::string text =
      ": " + codeText(finding.id) + ": " + printable(finding.title);
  if (finding.offset)
    text += " [file offset " + formatHex(*finding.offset) + "]";
  // Escape sequences have no width, so what is filled has none.
  std::string head = place + " " + severityText(finding.severity, false);
  std::string filled = folds ? fillLine(head + text, 4) : head + text;
  StringRef rest = filled;
  if (!rest.consume_front(head)) { // a path that is wider than the terminal
    filled = ":\n    " + fillLine(StringRef(text).substr(2), 4);
    rest = filled;
  }
  out << place << " " << severityText(finding.severity, colour) << rest << "\n";
}

/// "  fix:   text", filled, with its command lines below. Omits them if all are
/// in \p printed: several findings often have one remedy.
static void writePart(raw_ostream &out, StringRef label, StringRef text,
                      StringSet<> *printed = nullptr) {
  if (text.empty())
    return;
  constexpr unsigned indent = 9;
  out << "  " << left_justify((label + ":").str(), indent - 2);
  // Command lines stand right below the label, so that they stay short.
  StringRef prose = text.substr(0, text.find("\n  "));
  std::string safe =
      join(map_range(split(prose.rtrim('\n'), '\n'), printable), "\n");
  out << fillText(safe, indent, terminalColumns()) << "\n";
  SmallVector<StringRef, 8> lines;
  text.substr(prose.size()).split(lines, '\n', -1, /*KeepEmpty=*/false);
  if (printed && lines.size() > 1 &&
      all_of(lines, [&](StringRef line) { return printed->contains(line); })) {
    out << "    the same flags as above\n";
    return;
  }
  for (StringRef line : lines) {
    StringRef flags = line;
    if (lines.size() == 1 && flags.consume_front("  gcc:"))
      out << "    gcc, g++, gfortran: " << printable(flags.ltrim()) << "\n";
    else
      out << "  " << printable(line) << "\n";
    if (printed)
      printed->insert(line);
  }
}

/// Describes memory that is mapped past malloc: whose it is, and what helps.
static std::string mappedText(const MemoryUse &memory) {
  std::string text = memory.isHelped ? "yes, " : "no, ";
  text += memory.what();
  if (StringRef help = memory.help(); !help.empty())
    text += ("; " + help).str();
  return text;
}

std::string mpg::eligibleWord(const Region &region) {
  bool sized = !region.atRunTime;
  if (sized && region.bytes == 0)
    return "-";
  if (region.eligible)
    return sized ? "all" : "yes";
  return sized && region.eligibleBytes ? formatBytes(region.eligibleBytes)
                                       : "no";
}

static std::string eligibleText(const Region &region, const MemoryUse &memory) {
  if (region.name == "mapped")
    return mappedText(memory);
  std::string word = eligibleWord(region),
              because = join(map_range(region.because, idText), ", ");
  if (word == "-")
    return word;
  if (region.isFromCache() && region.eligibleBytes)
    return word + ", if asked for (" + idText(FindingId::mpg153) + ")";
  if (!because.empty())
    return word + ", because of " + because;
  if (word != "no")
    return word;
  return region.reachable ? "no, fills no whole large page"
                          : "no, not with this target";
}

static void writeRegions(raw_ostream &out, const FileReport &report) {
  if (report.regions.empty())
    return;
  out << "  region             size   eligible for large pages\n";
  for (const Region &region : report.regions) {
    out << "  " << left_justify(region.name, 12) << ' '
        << right_justify(region.atRunTime ? "-" : formatBytes(region.bytes), 10)
        << "   " << fillLine(printable(eligibleText(region, report.memory)), 28)
        << "\n";
  }
  if (report.largestSymbols.empty())
    return;
  auto describe = [](const LargeSymbol &symbol) {
    return printable(symbol.name) + " (" + formatBytes(symbol.bytes) + " in " +
           symbol.section + ")";
  };
  std::string largest = join(map_range(report.largestSymbols, describe), ", ");
  out << "  largest: " << fillLine(largest, 11) << "\n";
}

static bool isDynamicProgram(const FileReport &report) {
  return report.kind == ElfKind::exec || report.kind == ElfKind::pie;
}

/// How to come by large pages where nothing brings a library for them: no other
/// part of the report says that, least of all when a linker has dropped
/// -lmpgrt.
static std::string runLine(const FileReport &report) {
  if (!isDynamicProgram(report) || report.target != Target::mpg ||
      report.launchKnown || !report.closure || report.has(FindingId::mpg112) ||
      any_of(report.closure->libraries, [](const ClosureEntry &library) {
        return isLibmpgName(library.name);
      }))
    return "";
  StringRef folder = StringRef(report.path).contains('/') ? "" : "./";
  std::string link =
      "-L<prefix>/lib -Wl,-rpath,<prefix>/lib -Wl,--no-as-needed -lmpgrt";
  if (report.fixContext.parts)
    link = withPaths(link, *report.fixContext.parts);
  StringRef setting = report.memory.setting(), option = report.memory.option();
  return "  run: " + setting.str() + (setting.empty() ? "" : " ") + "mpgrun " +
         folder.str() + printable(report.path) +
         (option.empty() ? "" : " " + option.str()) +
         "\n  or link with: " + link + "\n";
}

static bool mustBeLaidOut(const FileReport &report) {
  return any_of(report.findings, [](const Finding &finding) {
    return finding.severity >= Severity::warning &&
           getInfo(finding.id).group == FindingGroup::layout;
  });
}

/// "12 B", or nothing where the program has data that a linker can lay out.
static std::string smallDataText(const FileReport &report) {
  constexpr uint64_t tinyBytes = 64 << 10;
  if (!isDynamicProgram(report) || report.target != Target::mpg ||
      report.regions.empty())
    return "";
  uint64_t bytes = report.dataBytes();
  if (bytes >= report.hugeBytes ||
      any_of(report.regions, [](const Region &region) {
        return region.atRunTime && !region.eligible && region.name != "mapped";
      }))
    return "";
  return std::string(bytes < tinyBytes ? "tiny" : "small") + " (" +
         formatBytes(bytes) + ")";
}

/// Who takes memory past malloc, and what brings that to large pages.
static std::string mappedSentence(const MemoryUse &memory) {
  std::string what = memory.what();
  what[0] = toUpper(what[0]);
  std::string text = what + (memory.isHelped ? " will be on large pages too"
                             : memory.owner  ? " stay on normal pages"
                                             : " stays on normal pages");
  if (StringRef help = memory.help(); !help.empty())
    text += (" without " + help).str();
  if (memory.owner && !memory.owner->remark.empty())
    text += (" (" + memory.owner->remark + ")").str();
  return text + ".";
}

/// Says that data needs no new link. A finding may ask for one for the code.
static StringRef relinkText(const FileReport &report) {
  return any_of(report.findings,
                [](const Finding &finding) {
                  return finding.id == FindingId::mpg153 && finding.via.empty();
                })
             ? ". Nothing to relink for data."
             : ". Nothing to relink.";
}

/// Most programs of HPC: nothing to lay out, all memory from malloc. One line
/// then tells what to do; empty for other programs.
static std::string heapLine(const FileReport &report) {
  std::string data = smallDataText(report);
  if (data.empty())
    return "";
  const MemoryUse &memory = report.memory;
  std::string text = "static data is " + data + "; ";
  if (!memory.replacedBy.empty())
    text += ("it may start another program in its place, by " +
             memory.replacedBy + "(), whose memory counts")
                .str();
  else if (memory.ownsMost())
    text += "most memory is not malloc's";
  else if (memory.mapsItself())
    text += "its memory is heap, but for " + memory.what();
  else
    text += std::string("its memory is heap") +
            (memory.heapOnly ? "" : ", as far as its libraries are here");
  text += relinkText(report);
  if (memory.owner || memory.programMaps)
    text += " " + mappedSentence(memory);
  return "  " + fillText(printable(text), 2, terminalColumns()) + "\n";
}

/// The conclusion after the findings: the table, or why there is none, and the
/// next command.
static void writeConclusion(raw_ostream &out, const FileReport &report,
                            bool verbose) {
  if (mustBeLaidOut(report))
    return writeRegions(out, report);
  std::string heap = heapLine(report), run = runLine(report);
  out << heap;
  if (heap.empty() || verbose)
    writeRegions(out, report);
  if (heap.empty() && !run.empty())
    out << "  nothing loads a large page library\n";
  out << run;
}

std::vector<std::pair<StringRef, std::string>>
mpg::countBySeverity(ArrayRef<Finding> findings) {
  std::vector<std::pair<StringRef, std::string>> counts;
  for (Severity severity :
       {Severity::error, Severity::warning, Severity::note}) {
    size_t count = size_t(count_if(findings, [&](const Finding &finding) {
      return finding.severity == severity;
    }));
    StringRef name = severityName(severity);
    if (count)
      counts.push_back({name, countWord(count, name)});
  }
  return counts;
}

/// "2 errors, 1 warning, 1 note", or "clean".
static std::string verdictText(ArrayRef<Finding> findings) {
  auto counts = countBySeverity(findings);
  return counts.empty() ? "clean" : join(make_second_range(counts), ", ");
}

/// Each finding with what, cost and fix.
static void writeFindings(raw_ostream &out, StringRef path,
                          ArrayRef<Finding> findings, const FixContext &context,
                          bool colour) {
  StringSet<> printedLines;
  for (const Finding &finding : findings) {
    writeFindingLine(out, path, finding, colour, /*folds=*/true);
    writePart(out, "why", finding.evidence);
    writePart(out, "cost", finding.cost);
    writePart(out, "fix", fixText(finding, context), &printedLines);
  }
}

StringRef mpg::littleToFind(ElfKind kind) {
  switch (kind) {
  case ElfKind::otherMachine:
    return "only the headers were read: mpgaudit knows 64-bit x86-64 and "
           "AArch64";
  case ElfKind::core:
    return "a core dump, which has no layout of its own: audit the program "
           "that it is of";
  case ElfKind::debug:
    return "debug information alone: audit the file that it was taken from";
  default:
    return "";
  }
}

void mpg::writeText(raw_ostream &out, const FileReport &report, bool colour,
                    bool verbose) {
  if (report.kind == ElfKind::notElf)
    return; // said on standard error
  std::string path = printable(report.path);
  out << paint(path, "1", colour) << ": " << kindName(report.kind);
  if (report.kind != ElfKind::malformed)
    out << ", " << report.machine << ", audited for target "
        << targetName(report.target);
  out << ": " << verdictText(report.findings) << "\n";
  if (StringRef reason = littleToFind(report.kind); !reason.empty())
    out << "  " << reason << "\n";
  writeFindings(out, report.path, report.findings, report.fixContext, colour);
  writeConclusion(out, report, verbose);
}

void mpg::writeTextShort(raw_ostream &out, const FileReport &report,
                         bool colour) {
  if (report.worst() < Severity::warning)
    return;
  out << printable(report.path) << ": " << severityText(report.worst(), colour)
      << ": ";
  std::vector<FindingId> shown;
  for (const Finding &finding : report.findings) {
    if (finding.severity < Severity::warning || is_contained(shown, finding.id))
      continue;
    out << (shown.empty() ? "" : ", ") << codeText(finding.id);
    shown.push_back(finding.id);
  }
  out << "\n";
}

void mpg::writeLines(raw_ostream &out, StringRef path,
                     ArrayRef<Finding> findings, bool colour) {
  for (const Finding &finding : findings)
    writeFindingLine(out, path, finding, colour, /*folds=*/false);
}

void AuditTotals::add(const FileReport &report) {
  ++files;
  ++kinds[report.kind];
  for (const Finding &finding : report.findings)
    ++findings[finding.id][finding.severity];
}

void AuditTotals::add(const AuditTotals &other) {
  files += other.files;
  for (auto [kind, count] : other.kinds)
    kinds[kind] += count;
  for (const auto &[id, bySeverity] : other.findings)
    for (auto [severity, count] : bySeverity)
      findings[id][severity] += count;
}

unsigned AuditTotals::count(Severity severity) const {
  unsigned sum = 0;
  for (const auto &[id, bySeverity] : findings)
    for (const auto &[found, count] : bySeverity)
      sum += found == severity ? count : 0;
  return sum;
}

void mpg::writeTotals(raw_ostream &out, const AuditTotals &totals,
                      bool colour) {
  out << countWord(totals.files, "file") << ": "
      << countWord(totals.count(Severity::error), "error") << ", "
      << countWord(totals.count(Severity::warning), "warning") << ", "
      << countWord(totals.count(Severity::note), "note") << "\n";
  for (const auto &[id, bySeverity] : totals.findings)
    for (auto at = bySeverity.rbegin(); at != bySeverity.rend(); ++at)
      out << right_justify(std::to_string(at->second), 7) << "  "
          << severityText(at->first, colour)
          << std::string(8 - severityName(at->first).size(), ' ')
          << left_justify(codeText(id), 18) << "  " << getInfo(id).summary
          << "\n";
}

// The job script

/// "./app, ./post": what a script starts twice is one program.
static std::string programList(const JobReport &job) {
  std::string text;
  StringSet<> named;
  for (const JobLaunch &launch : job.script.launches) {
    if (!named.insert(launch.program.text).second)
      continue;
    text +=
        (text.empty() ? ", starts " : ", ") + printable(launch.program.text);
  }
  return text;
}

/// Nothing of a job is clean while one of its programs is not.
static std::string jobVerdict(const JobReport &job,
                              ArrayRef<FileReport> programs) {
  Severity worst = Severity::note;
  std::string path;
  for (const FileReport &program : programs)
    if (program.worst() > worst) {
      worst = program.worst();
      path = program.path;
    }
  // "clean" would be taken for the answer about large pages.
  std::string own =
      job.findings.empty() ? "no findings" : verdictText(job.findings);
  if (path.empty())
    return own;
  return (job.findings.empty() ? "nothing in the script itself" : own) +
         ", but " + (worst == Severity::error ? "an error" : "a warning") +
         " about " + printable(path);
}

/// Pages that the pool must hold when the programs start: tell users before a
/// full one does. Heap and stacks are known only when the program runs.
static void writePages(raw_ostream &out, const JobReport &job,
                       ArrayRef<FileReport> programs) {
  StringMap<const FileReport *> reports;
  for (const FileReport &file : programs)
    if (file.facts.layout)
      reports.try_emplace(file.path, &file);
  StringSet<> written;
  for (const JobLaunch &launch : job.script.launches) {
    StringRef name = launch.program.text;
    const FileReport *report = reports.lookup(name);
    if (!report || !wantsLargePages(launch.launch, report->target) ||
        !written.insert(name).second)
      continue;
    uint64_t pages = report->facts.layout->hugeBytes >> 21;
    std::optional<unsigned> ranks = launch.launch.ranksPerNode;
    if (!ranks)
      ranks = job.script.ranksPerNode;
    if (pages <= 2)
      continue; // any pool has them
    std::string text =
        printable(name) + " needs " + std::to_string(pages) + " a process";
    if (ranks && *ranks > 1)
      text += ", " +
              std::to_string(SaturatingMultiply<uint64_t>(pages, *ranks)) +
              " a node";
    text += ", of 2 MiB, for its static data; heap and stacks come on top";
    out << "  pages: " << fillLine(text, 9) << "\n";
  }
}

void mpg::writeVerdictText(raw_ostream &out, const JobReport &job,
                           bool colour) {
  std::string text =
      printable(job.script.path) + ": " + printable(job.verdict.sentence);
  out << paint(fillText(text, 2, terminalColumns()), "1", colour) << "\n";
}

void mpg::writeVerdictLine(raw_ostream &out, const JobReport &job) {
  out << printable(job.script.path)
      << ": verdict: " << printable(job.verdict.sentence) << "\n";
}

void mpg::writeJobText(raw_ostream &out, const JobReport &job,
                       ArrayRef<FileReport> programs, bool colour) {
  out << printable(job.script.path) << ": ";
  if (job.script.scheduler == Scheduler::none)
    out << "script";
  else
    out << "job script for " << getWords(job.script.scheduler).name;
  out << programList(job) << ": " << jobVerdict(job, programs) << "\n";
  writePages(out, job, programs);
  writeFindings(out, job.script.path, job.findings, FixContext(), colour);
}
