// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpgaudit: tells before the run whether a program gets large pages. Here are
// only the command line, the order of output and the exit status; what is
// looked for is in lib/Audit/Checks.h.

#include "Audit/Report.h"
#include "Inputs.h"
#include "Options.h"
#include "Support/Format.h"
#include "Support/OrderedParallel.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <cstdlib>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

namespace {

/// With more files than this a reader wants a list, not pages.
constexpr size_t manyFiles = 20;

/// And an answer soon: see AuditSettings::codeLimitBytes.
constexpr uint64_t surveyCodeBytes = uint64_t(1) << 20;

/// A file or an archive member as it will be printed. Text has two forms;
/// which one is wanted is known only after manyFiles reports.
struct RenderedFile {
  std::string full;
  std::string brief;
};

/// One input's share of the output, made on any thread.
struct Rendered {
  std::vector<RenderedFile> files;
  std::string messages; ///< for standard error
  AuditTotals totals;
  Severity worst = Severity::off;
  bool failed = false; ///< unreadable or unusable
  bool skipped = false;
};

/// Audits inputs and prints what they render to, in order.
class Run {
public:
  explicit Run(const Options &options)
      : options(options), settings(options.settings) {}
  int execute();

private:
  Rendered audit(const Input &input) const;
  RenderedFile render(const FileReport &report) const;
  void emit(Rendered rendered);
  void print(const Rendered &rendered);
  void printHeld();
  void printStats(const InputList &inputs) const;
  int exitStatus() const;

  const Options &options;
  AuditSettings settings;
  bool colour = false;
  /// Read by the threads, so that full reports that nobody will print are not
  /// written; set by the one that prints.
  std::atomic<bool> many = false;
  std::vector<Rendered> held; ///< text, while it may still become many
  AuditTotals totals;
  Severity worst = Severity::off;
  bool failed = false;
  unsigned skippedNotElf = 0;
  unsigned reportsPrinted = 0;
};

} // namespace

static std::string errorLine(const std::string &path, StringRef reason) {
  return "mpgaudit: error: " + printable(path) + ": " + printable(reason) +
         "\n";
}

/// Colour is for people: not in a file or pipe, not where the user or the
/// terminal (an editor's window, say) does not want it. See no-color.org.
static bool wantColour() {
  const char *noColour = getenv("NO_COLOR"), *terminal = getenv("TERM");
  return isatty(STDOUT_FILENO) && (!noColour || !*noColour) &&
         (!terminal || StringRef(terminal) != "dumb");
}

/// What makes a damaged file unusable, in one line.
static std::string damageOf(const FileReport &report) {
  for (const Finding &finding : report.findings)
    if (finding.severity == Severity::error &&
        infoOf(finding.id).group == FindingGroup::malformed)
      return "damaged: " + finding.title;
  return "damaged";
}

RenderedFile Run::render(const FileReport &report) const {
  RenderedFile file;
  raw_string_ostream full(file.full), brief(file.brief);
  switch (options.format) {
  case ReportFormat::text:
    writeTextShort(brief, report, colour);
    if (!many)
      writeText(full, report, colour);
    break;
  case ReportFormat::line:
    writeLines(full, report, colour);
    break;
  case ReportFormat::json:
  case ReportFormat::jsonl:
    writeJsonFile(full, report);
    break;
  }
  return file;
}

Rendered Run::audit(const Input &input) const {
  Rendered rendered;
  Error error = readImages(input.path, [&](Image &image) {
    if (image.kind() == ElfKind::notElf && input.fromDirectory) {
      rendered.skipped = true;
      return;
    }
    FileReport report = auditImage(image, settings);
    if (report.kind == ElfKind::notElf)
      rendered.messages += errorLine(report.path, report.notElfReason);
    else if (report.unusable())
      rendered.messages += errorLine(report.path, damageOf(report));
    rendered.totals.add(report);
    rendered.worst = std::max(rendered.worst, report.worst());
    rendered.failed |= report.unusable();
    rendered.files.push_back(render(report));
  });
  if (error) {
    rendered.messages += errorLine(input.path, toString(std::move(error)));
    rendered.failed = true;
  }
  return rendered;
}

void Run::print(const Rendered &rendered) {
  // What was printed so far must not appear after a later message.
  if (!rendered.messages.empty())
    outs().flush();
  errs() << rendered.messages;
  for (const RenderedFile &file : rendered.files) {
    if (options.format == ReportFormat::json)
      outs() << (reportsPrinted ? ",\n" : "\n") << file.full;
    else if (options.format == ReportFormat::jsonl)
      outs() << file.full << "\n";
    else
      outs() << (many ? file.brief : file.full);
    ++reportsPrinted;
  }
}

void Run::printHeld() {
  for (const Rendered &rendered : held)
    print(rendered);
  held.clear();
}

void Run::emit(Rendered rendered) {
  totals.add(rendered.totals);
  worst = std::max(worst, rendered.worst);
  failed |= rendered.failed;
  skippedNotElf += rendered.skipped;
  if (options.format != ReportFormat::text || many)
    return print(rendered);
  if (rendered.files.empty() && rendered.messages.empty())
    return;
  // Counted are reports, not operands: a directory may hold two programs among
  // a thousand sources, an archive a thousand members.
  held.push_back(std::move(rendered));
  if (totals.files > manyFiles) {
    many = true;
    printHeld();
  }
}

void Run::printStats(const InputList &inputs) const {
  errs() << "mpgaudit: " << totals.files << " audited";
  const char *separator = ": ";
  for (auto [kind, count] : totals.kinds) {
    errs() << separator << count << " " << kindName(kind);
    separator = ", ";
  }
  errs() << "; skipped: " << skippedNotElf << " not ELF, "
         << inputs.skippedLinks << " symbolic links, " << inputs.skippedSpecial
         << " special files\n";
}

int Run::exitStatus() const {
  if (failed)
    return 2;
  return options.failOn && worst >= *options.failOn ? 1 : 0;
}

int Run::execute() {
  InputList inputs = collectInputs(
      options, [&](const std::string &path, const std::string &reason) {
        errs() << errorLine(path, reason);
        failed = true;
      });
  // A survey; who asks for these by name gets the whole answer.
  const FindingSet &named = settings.named;
  if (inputs.files.size() > manyFiles && !named.contains(FindingId::mpg130) &&
      !named.contains(FindingId::mpg131) && !named.contains(FindingId::mpg132))
    settings.codeLimitBytes = surveyCodeBytes;
  colour = wantColour();
  bool isJson = options.format == ReportFormat::json;
  outs().SetBuffered();
  if (isJson)
    writeJsonHead(outs(), options.settings);
  orderedParallel<Rendered>(
      inputs.files.size(),
      unsigned(std::min<size_t>(options.jobs, inputs.files.size())),
      [&](size_t index) { return audit(inputs.files[index]); },
      [&](Rendered rendered) { emit(std::move(rendered)); });
  printHeld();
  if (isJson)
    writeJsonTail(outs());
  if (many)
    writeTotals(outs(), totals, colour);
  outs().flush();
  if (options.stats)
    printStats(inputs);
  return exitStatus();
}

int main(int argc, char **argv) {
  int status = 0;
  if (std::optional<Options> options = parseOptions(argc, argv, status))
    status = Run(*options).execute();
  outs().flush();
  if (outs().has_error()) {
    errs() << "mpgaudit: error: cannot write the report: "
           << outs().error().message() << "\n";
    outs().clear_error();
    status = 2;
  }
  // A closed or full standard error loses messages, not the exit status.
  errs().clear_error();
  return status;
}
