// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Run.h. Several threads audit files, and one prints the reports in order
// of input. The conclusion waits until all are done.

#include "Run.h"
#include "Advice/Forecast.h"
#include "Advice/Recommend.h"
#include "Audit/ClosureFacts.h"
#include "Loader/Closure.h"
#include "Render/Report.h"
#include "Support/Format.h"
#include "Support/Threads.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

/// With more files than this a reader wants a list, not pages.
static constexpr size_t manyFiles = 20;

/// And an answer soon: see AuditSettings::codeLimitBytes.
static constexpr uint64_t surveyCodeBytes = uint64_t(1) << 20;

std::string mpg::errorLine(const std::string &path, StringRef reason) {
  return "mpgaudit: error: " + printable(path) + ": " + printable(reason) +
         "\n";
}

void mpg::openLibraries(const Options &options, AuditSettings &settings) {
  if (!options.closure)
    return;
  LibraryStore::Collector collector;
  if (options.mode != RunMode::tree)
    collector = makeCollector(settings);
  settings.libraries = std::make_shared<LibraryStore>(std::move(collector));
}

/// For a tree, which shows no finding: only whether a file is what it claims to
/// be.
static AuditSettings withoutChecks(AuditSettings settings) {
  settings.checks.clear();
  settings.named.clear();
  settings.wantFacts = false;
  for (const FindingInfo &info : allFindings())
    if (info.group == FindingGroup::malformed)
      settings.checks.insert(info.id);
  return settings;
}

/// Colour is for people: not in a file or pipe, not where the user or the
/// terminal (an editor's window, say) does not want it. See no-color.org.
static bool wantColour() {
  const char *noColour = getenv("NO_COLOR"), *terminal = getenv("TERM");
  return isatty(STDOUT_FILENO) && (!noColour || !*noColour) &&
         (!terminal || StringRef(terminal) != "dumb");
}

/// The damage that makes a file unusable, in one line.
static std::string describeDamage(const FileReport &report) {
  for (const Finding &finding : report.findings)
    if (finding.severity == Severity::error &&
        getInfo(finding.id).group == FindingGroup::malformed)
      return "damaged: " + finding.title;
  return "damaged";
}

Run::Run(const Options &options)
    : options(options), settings(options.settings), policy(options) {}

bool Run::keepsReports() const {
  return !options.job.empty() || options.mode == RunMode::forecast ||
         options.format == ReportFormat::sarif ||
         options.format == ReportFormat::html;
}

bool Run::isForPeople() const {
  return options.format == ReportFormat::text ||
         options.format == ReportFormat::line;
}

/// For the report as a whole. \p line: as it is printed for people.
void Run::noteFailure(StringRef line) {
  line.consume_front("mpgaudit: error: ");
  result.failures.push_back(line.rtrim('\n').str());
}

bool Run::fail(const std::string &path, StringRef reason) {
  outs().flush();
  errs() << errorLine(path, reason);
  failed = true;
  return false;
}

// One input

void Run::writeAdvice(raw_ostream &out, const FileReport &report,
                      const Input &input) const {
  JobLaunch start = input.start ? *input.start : JobLaunch();
  if (input.launch)
    start.launch = *input.launch;
  bool known = input.start || input.launch;
  std::vector<const Measurement *> measured;
  for (const Measurement &measurement : measurements)
    if (measurement.isFor(report.path) ||
        (input.start && measurement.isFor(input.start->program.text)))
      measured.push_back(&measurement);
  Advice advice =
      recommend(report, result.job ? &result.job->script : nullptr,
                known ? &start : nullptr, settings.memoryBytes, measured);
  if (options.format != ReportFormat::text)
    return writeAdviceJson(out, advice, report.path);
  // On an A64FX there is more to decide, and its reasons are the reader's.
  bool brief = report.target == Target::mpg && report.machine != "aarch64";
  mpg::writeAdvice(out, advice, report.path, brief && !options.verbose);
}

/// For what a script starts and what is not on this machine.
void Run::writeAdviceWithoutFiles() {
  for (const JobLaunch &start : result.job->script.launches) {
    FileReport none = {};
    none.path = start.program.text;
    none.kind = ElfKind::notElf;
    none.target = settings.target.value_or(settings.fujitsuJob ? Target::fugaku
                                                               : Target::mpg);
    Input input;
    input.start = &start;
    Rendered rendered;
    rendered.input = &input;
    raw_string_ostream out(rendered.files.emplace_back().full);
    writeAdvice(out, none, input);
    print(rendered);
  }
}

RenderedFile Run::render(const FileReport &report, const Input &input) const {
  RenderedFile file;
  raw_string_ostream full(file.full), brief(file.brief);
  if (options.mode == RunMode::tree) {
    if (report.closure)
      writeTree(full, report.path, *report.closure);
    return file;
  }
  if (options.mode == RunMode::recommend) {
    if (report.kind != ElfKind::notElf)
      writeAdvice(full, report, input);
    return file;
  }
  if (options.mode == RunMode::forecast)
    return file; // all at once
  switch (options.format) {
  case ReportFormat::text:
    writeTextShort(brief, report, colour);
    if (!many)
      writeText(full, report, colour, options.verbose);
    break;
  case ReportFormat::line:
    writeLines(full, report.path, report.findings, colour);
    break;
  case ReportFormat::json:
  case ReportFormat::jsonl:
    writeJsonFile(full, report);
    break;
  case ReportFormat::sarif:
  case ReportFormat::html:
    break; // all at once
  }
  return file;
}

Rendered Run::audit(const Input &input) {
  Rendered rendered;
  rendered.input = &input;
  AuditSettings own = settings;
  own.launch = input.launch;
  Error error = readImages(input.path, [&](Image &image) {
    if (image.kind() == ElfKind::notElf && input.fromDirectory) {
      rendered.skipped = true;
      return;
    }
    if (image.kind() == ElfKind::notElf && input.fromScript) {
      rendered.startsUnknown = true;
      return;
    }
    FileReport report = auditImage(image, own);
    if (!input.shownPath.empty())
      report.path = input.shownPath;
    if (report.kind == ElfKind::notElf)
      rendered.messages +=
          errorLine(report.path,
                    report.notElfReason +
                        (StringRef(report.notElfReason).starts_with("a script")
                             ? "; a job script is audited by --job=" +
                                   shellWord(report.path)
                             : ""));
    else if (report.unusable())
      rendered.messages += errorLine(report.path, describeDamage(report));
    rendered.failed |= report.unusable();
    FindingSet looked = lookedFor(own, report.target);
    policy.apply(report.findings, report.path, &looked);
    rendered.totals.add(report);
    rendered.worst = std::max(rendered.worst, report.worst());
    rendered.files.push_back(render(report, input));
    if (keepsReports())
      rendered.reports.push_back(std::move(report));
  });
  if (error) {
    std::string reason = toString(std::move(error));
    // Where a shell would look, but not for a path.
    ErrorOr<std::string> program = sys::findProgramByName(input.path);
    if (program && *program != input.path)
      reason += "; in PATH it is " + shellWord(*program);
    rendered.messages += errorLine(input.path, reason);
    rendered.failed = true;
  }
  return rendered;
}

// In order

void Run::print(const Rendered &rendered) {
  // Earlier output must not appear after a later message.
  if (!rendered.messages.empty())
    outs().flush();
  errs() << rendered.messages;
  for (const RenderedFile &file : rendered.files) {
    // A script may start one program many times; once is enough to read.
    if (isForPeople() && rendered.input->start &&
        !printedOfJob.insert(file.full).second)
      continue;
    if (options.mode != RunMode::report && file.full.empty())
      continue; // no program, or the forecast of all follows
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

void Run::keep(Rendered &rendered) {
  for (FileReport &report : rendered.reports) {
    result.files.push_back(std::move(report));
    reported.push_back(rendered.input);
  }
  rendered.reports.clear();
}

/// All starts of the script that \p input stands for.
static std::vector<const JobLaunch *> findStarts(const Input &input) {
  std::vector<const JobLaunch *> starts = input.alike;
  if (input.start)
    starts.insert(starts.begin(), input.start);
  return starts;
}

void Run::emit(Rendered rendered) {
  totals.add(rendered.totals);
  worst = std::max(worst, rendered.worst);
  failed |= rendered.failed;
  skippedNotElf += rendered.skipped;
  if (rendered.startsUnknown) {
    for (const JobLaunch *start : findStarts(*rendered.input)) {
      startsOfScripts.insert(start);
      result.job->script.notUnderstood.push_back(
          {start->line, start->program.text + ", which is no ELF file: the "
                                              "programs that it starts"});
    }
  }
  if (rendered.failed)
    noteFailure(rendered.messages);
  keep(rendered);
  bool isReport = options.mode == RunMode::report;
  bool opensWithVerdict = isReport && result.job && isForPeople();
  if (!opensWithVerdict &&
      (options.format != ReportFormat::text || !isReport || many))
    return print(rendered);
  if (rendered.files.empty() && rendered.messages.empty())
    return;
  // Counted are reports, not operands: a directory may hold two programs among
  // a thousand sources, an archive a thousand members.
  held.push_back(std::move(rendered));
  if (totals.files > manyFiles) {
    many = true;
    if (!opensWithVerdict)
      printHeld();
  }
}

void Run::auditAll() {
  orderedParallel<Rendered>(
      inputs.files.size(),
      unsigned(std::min<size_t>(options.jobs, inputs.files.size())),
      [&](size_t index) { return audit(inputs.files[index]); },
      [&](Rendered rendered) { emit(std::move(rendered)); });
}

// The job script and the process

bool Run::readScript() {
  if (options.job.empty())
    return true;
  Expected<JobScript> script = readJobScriptFile(options.job);
  if (!script)
    return fail(options.job, toString(script.takeError()));
  result.job = JobReport();
  result.job->script = std::move(*script);
  addGivenSettings(result.job->script, settings.launch.get());
  applyLaunchers(result.job->script);
  settings.fujitsuJob = isFugakuScript(result.job->script);
  addJobInputs(result.job->script, settings.launch.get(), inputs.files);
  noteImages(result.job->script);
  if (options.mode == RunMode::tree && inputs.files.empty())
    return fail(options.job, "none of the programs that it starts is on this "
                             "machine; name one beside the script");
  return true;
}

bool Run::readLiveProcess() {
  if (!options.pid)
    return true;
  Expected<LiveProcess> found = readProcess(*options.pid);
  if (!found)
    return fail("process " + std::to_string(*options.pid),
                toString(found.takeError()));
  process = std::move(*found);
  Input input;
  input.path = process->program;
  input.shownPath = process->shownPath;
  input.launch = std::make_shared<Launch>(process->launch);
  inputs.files.push_back(std::move(input));
  return true;
}

/// "p.csv:3: cycles: <not counted>: ...".
static std::string describe(const Measurement &of,
                            const MeasuredProblem &problem) {
  std::string text = of.path;
  if (problem.line)
    text += ":" + std::to_string(problem.line);
  text += ": " + problem.text;
  if (problem.others)
    text += " (" + std::to_string(problem.others + 1) + " such lines)";
  return printable(text);
}

bool Run::isOfAnInput(const Measurement &measurement) const {
  if (result.job)
    for (const JobLaunch &start : result.job->script.launches)
      if (measurement.isFor(start.program.text))
        return true;
  return any_of(inputs.files, [&](const Input &input) {
    return measurement.isFor(input.shownPath.empty() ? input.path
                                                     : input.shownPath);
  });
}

/// Reports unusable profiles, and advises on the rest without them.
void Run::readProfiles() {
  auto warn = [&](StringRef line) {
    errs() << line;
    noteFailure(line);
    failed = true;
  };
  for (const std::string &path : options.profiles) {
    Expected<Measurement> measurement = readMeasurement(path);
    if (!measurement) {
      warn("mpgaudit: error: " + toString(measurement.takeError()) + "\n");
      continue;
    }
    if (!isOfAnInput(*measurement)) {
      warn(errorLine(path, "this is a profile of " +
                               measurement->programName() +
                               ", and that is none of the programs here; "
                               "profile the one that you ask about"));
      continue;
    }
    for (const MeasuredProblem &problem : measurement->problems)
      errs() << "mpgaudit: warning: " << describe(*measurement, problem)
             << "\n";
    measurements.push_back(std::move(*measurement));
  }
}

void Run::auditScript() {
  if (!result.job)
    return;
  JobReport &job = *result.job;
  DenseMap<const JobLaunch *, const FileReport *> findReport;
  for (size_t i = 0; i < result.files.size(); ++i)
    for (const JobLaunch *start : findStarts(*reported[i]))
      findReport[start] = &result.files[i];
  std::vector<LaunchedProgram> programs;
  for (const JobLaunch &launch : job.script.launches)
    if (!startsOfScripts.contains(&launch))
      programs.push_back({&launch, findReport.lookup(&launch)});
  JobSettings asked;
  asked.target = settings.target;
  asked.memoryBytes = settings.memoryBytes;
  asked.checks = settings.checks;
  asked.named = settings.named;
  asked.requireLargePages = options.requireLargePages;
  job.verdict = judgeJob(job.script, programs,
                         settings.target ? *settings.target == Target::fugaku
                                         : settings.fujitsuJob);
  job.findings = auditJob(job.script, programs, job.verdict, asked);
  policy.apply(job.findings, job.script.path);
  notUnderstood = any_of(job.findings, [](const Finding &finding) {
    return StringRef(finding.sub).starts_with(notUnderstoodSub);
  });
  worst = std::max(worst, findWorst(job.findings));
}

// Begin and end

bool Run::start() {
  if (Error error = policy.start()) {
    errs() << "mpgaudit: error: " << toString(std::move(error)) << "\n";
    failed = true;
    return false;
  }
  inputs = collectInputs(
      options, [&](const std::string &path, const std::string &reason) {
        errs() << errorLine(path, reason);
        noteFailure(errorLine(path, reason));
        failed = true;
      });
  for (Input &input : inputs.files)
    input.launch = settings.launch;
  if (!readScript() || !readLiveProcess())
    return false;
  readProfiles();
  // A survey; a user who names these findings gets the whole answer.
  const FindingSet &named = settings.named;
  if (inputs.files.size() > manyFiles && !named.contains(FindingId::mpg130) &&
      !named.contains(FindingId::mpg131) && !named.contains(FindingId::mpg132))
    settings.codeLimitBytes = surveyCodeBytes;
  if (options.mode == RunMode::tree)
    settings = withoutChecks(std::move(settings));
  openLibraries(options, settings);
  colour = options.colour.value_or(wantColour());
  return true;
}

/// The most important facts for a reader of a job's report.
void Run::writeVerdict() {
  if (!result.job || options.mode != RunMode::report)
    return;
  if (options.format == ReportFormat::text)
    writeVerdictText(outs(), *result.job, colour);
  else if (options.format == ReportFormat::line &&
           !result.job->verdict.startsNothing)
    writeVerdictLine(outs(), *result.job);
}

void Run::writeRecommendationsEnd() {
  if (result.job && inputs.files.empty())
    writeAdviceWithoutFiles();
  if (options.format == ReportFormat::json)
    writeJsonTail(outs(), {});
}

/// Programs that are not here are named, so that nobody takes the sum for all.
void Run::writeForecastsEnd() {
  RunPeaks peaks;
  for (const std::string &path : options.reports)
    if (Error error = addRunPeaks(path, peaks)) {
      fail(path, toString(std::move(error)));
      return;
    }
  std::vector<Forecast> forecasts;
  auto add = [&](const FileReport &report, const JobLaunch *start) {
    bool isProgram = is_contained(
        {ElfKind::exec, ElfKind::pie, ElfKind::staticExec, ElfKind::staticPie},
        report.kind);
    if (report.facts.layout && isProgram && !report.unusable())
      forecasts.push_back(makeForecast(
          report, start, result.job ? &result.job->script : nullptr,
          options.reports.empty() ? nullptr : &peaks));
  };
  for (size_t i = 0; i < result.files.size(); ++i)
    add(result.files[i], reported[i]->start);
  if (options.format == ReportFormat::json)
    writeForecastsJson(outs(), forecasts);
  else
    writeForecasts(outs(), forecasts);
  if (forecasts.empty())
    fail(options.job.empty() ? inputs.files.front().path : options.job,
         "no program to forecast for");
}

void Run::writeJsonEnd() {
  std::vector<std::pair<StringRef, std::string>> more;
  if (result.job) {
    more.emplace_back("job", "");
    raw_string_ostream text(more.back().second);
    writeJobJson(text, *result.job);
  }
  if (process) {
    more.emplace_back("process", "");
    raw_string_ostream text(more.back().second);
    writeProcessJson(text, *process);
  }
  if (options.format == ReportFormat::json)
    return writeJsonTail(outs(), more);
  for (const auto &[key, value] : more)
    outs() << "{\"" << key << "\":" << value << "}\n";
}

void Run::writeEnd() {
  result.suppressed = policy.takenOut();
  SmallString<256> folder;
  if (!sys::fs::current_path(folder))
    result.folder = folder.str().str();
  if (options.mode == RunMode::recommend)
    return writeRecommendationsEnd();
  if (options.mode == RunMode::forecast)
    return writeForecastsEnd();
  switch (options.format) {
  case ReportFormat::text:
    if (options.mode != RunMode::report)
      return;
    if (result.job)
      writeJobText(outs(), *result.job, result.files, colour);
    if (process)
      writeProcess(outs(), *process);
    if (many)
      writeTotals(outs(), totals, colour);
    return;
  case ReportFormat::line:
    if (result.job)
      writeLines(outs(), result.job->script.path, result.job->findings, colour);
    return;
  case ReportFormat::json:
  case ReportFormat::jsonl:
    return writeJsonEnd();
  case ReportFormat::sarif:
    return writeSarif(outs(), result);
  case ReportFormat::html:
    return writeHtml(outs(), result);
  }
}

void Run::printStats() const {
  errs() << "mpgaudit: " << totals.files << " audited";
  const char *separator = ": ";
  for (auto [kind, count] : totals.kinds) {
    errs() << separator << count << " " << kindName(kind);
    separator = ", ";
  }
  errs() << "; skipped: " << skippedNotElf << " not ELF, "
         << inputs.skippedLinks << " symbolic links, " << inputs.skippedSpecial
         << " special files";
  if (policy.takenOut())
    errs() << "; " << policy.takenOut() << " findings accepted";
  errs() << "\n";
}

void Run::finish() {
  // One of some of the files would forget what is accepted in the others.
  if (failed && !options.writeBaseline.empty()) {
    errs() << errorLine(options.writeBaseline,
                        "the baseline is not written: not all of the files "
                        "could be audited");
  } else if (Error error = policy.finish()) {
    errs() << "mpgaudit: error: " << toString(std::move(error)) << "\n";
    failed = true;
  }
  for (const std::string &line : policy.complaints())
    errs() << "mpgaudit: warning: " << printable(line) << "\n";
  if (options.stats)
    printStats();
}

int Run::exitStatus() const {
  if (failed)
    return 2;
  if (options.mode != RunMode::report)
    return 0;
  if (options.failOn && worst >= *options.failOn)
    return 1;
  return notUnderstood ? 3 : 0;
}

void Run::writeHead() const {
  if (options.mode == RunMode::recommend)
    outs() << "{\"schema\":\"mpgadvice-1\",\"version\":\"" MPG_VERSION
              "\",\"programs\":[";
  else if (options.mode != RunMode::forecast)
    writeJsonHead(outs(), options.settings);
}

int Run::execute() {
  outs().SetBuffered();
  if (!start())
    return 2;
  if (options.format == ReportFormat::json)
    writeHead();
  auditAll();
  auditScript();
  writeVerdict();
  printHeld();
  writeEnd();
  outs().flush();
  finish();
  return exitStatus();
}
