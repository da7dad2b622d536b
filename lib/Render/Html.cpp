// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --format=html: one page that can be mailed and opened anywhere. It loads
// nothing and runs nothing. In front stands what a support desk looks at
// first: the verdict on each file, the worst on top; then each file by itself,
// and at the end what the findings mean.

#include "Render/HtmlParts.h"
#include "Support/Format.h"
#include "Support/StableSort.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace llvm;
using namespace mpg;

/// Limits the lists of started programs and of unreadable lines: a script may
/// be generated.
static constexpr size_t lineLimit = 200;

static std::string wordsText(const std::vector<JobWord> &words) {
  auto text = [](const JobWord &word) { return word.text; };
  return join(map_range(words, text), " ");
}

/// "mpiexec -n 4 ./a.out": with the launchers in front.
static std::string launchText(const JobLaunch &launch) {
  std::string text;
  for (const JobCommand &launcher : launch.launchers)
    text += wordsText(launcher.words) + " ";
  text += launch.program.text;
  std::string arguments = wordsText(launch.arguments);
  return arguments.empty() ? text : text + " " + arguments;
}

/// The lines of the script that were understood, as they were understood.
static std::map<unsigned, std::string> scriptLines(const JobScript &script) {
  std::map<unsigned, std::string> lines;
  for (const JobDirective &directive : script.directives)
    lines.emplace(directive.line, (getWords(directive.scheduler).mark + " " +
                                   directive.option + " " + directive.value)
                                      .str());
  for (const JobSetting &setting : script.settings) {
    std::string text = setting.name + "=" + setting.value.text;
    if (setting.how == "unset")
      text = "unset " + setting.name;
    else if (setting.how == "export")
      text = "export " + text;
    else if (setting.how != "env" && !setting.how.empty())
      continue; // the command in the same line says more
    lines.emplace(setting.line, text);
  }
  for (const JobLaunch &launch : script.launches)
    lines.emplace(launch.line, launchText(launch));
  for (const JobCommand &command : script.commands)
    lines.emplace(command.line, wordsText(command.words));
  return lines;
}

static void writeFacts(raw_ostream &out, const JobScript &script) {
  const char *separator = "";
  auto add = [&](StringRef label, const std::string &value) {
    out << separator << label << " " << escapeHtml(value);
    separator = ", ";
  };
  out << "<p class=\"facts\">";
  add("batch system", getWords(script.scheduler).name.str());
  if (script.nodes)
    add("nodes", std::to_string(*script.nodes));
  if (script.ranks)
    add("processes", std::to_string(*script.ranks));
  if (script.ranksPerNode)
    add("processes on a node", std::to_string(*script.ranksPerNode));
  if (script.nodeMemoryBytes)
    add("memory of a node", formatBytes(*script.nodeMemoryBytes));
  for (const std::string &module : script.modules)
    add("module", module);
  out << "</p>\n";
}

static void writeLaunches(raw_ostream &out, const JobScript &script) {
  if (script.launches.empty())
    return;
  out << "<h3>Programs that it starts</h3>\n";
  HtmlTable table(
      out, "Programs that the script starts",
      {"row|Line", "Command", "size|Processes on a node", "size|Threads"});
  auto number = [](std::optional<unsigned> value) {
    return value ? std::to_string(*value) : "?";
  };
  for (const JobLaunch &launch :
       ArrayRef(script.launches).take_front(lineLimit))
    table.addRow({std::to_string(launch.line), htmlCode(launchText(launch)),
                  number(launch.launch.ranksPerNode),
                  number(launch.launch.threads)});
}

static void writeProblems(raw_ostream &out, const JobScript &script) {
  if (script.problems.empty())
    return;
  out << "<h3>Not understood</h3>\n";
  std::vector<std::string> lines;
  for (const JobProblem &problem :
       ArrayRef(script.problems).take_front(lineLimit))
    lines.push_back("line " + std::to_string(problem.line) + ": " +
                    problem.text);
  writeHtmlList(out, lines);
}

static void writeJob(raw_ostream &out, const JobReport &job) {
  HtmlSection section(out, job.script.path, "job");
  out << "<p class=\"verdict\">"
      << (job.findings.empty() ? "no findings" : severityBadges(job.findings))
      << " in the job script</p>\n";
  writeFacts(out, job.script);
  writeLaunches(out, job.script);
  if (!job.findings.empty())
    out << "<h3>Findings</h3>\n";
  std::map<unsigned, std::string> lines = scriptLines(job.script);
  writeHtmlFindings(out, job.findings, FixContext(), "job", &lines);
  writeProblems(out, job.script);
}

/// Browsers become slow above this.
static constexpr size_t detailBytesLimit = size_t(20) << 20;
static constexpr size_t rowLimit = 5000;

namespace {

class PageWriter {
public:
  PageWriter(raw_ostream &out, const RunResult &result)
      : out(out), result(result) {}
  void write();

private:
  void order();
  void writeDetails();
  void writeHead();
  void writeTrouble();
  void writeSummary();
  void addRow(HtmlTable &table, size_t index);
  void writeRules();

  raw_ostream &out;
  const RunResult &result;
  /// Indices of result.files, the worst first.
  std::vector<size_t> byWorst;
  /// The section of each file; empty if the page has no room for it.
  std::vector<std::string> details;
  AuditTotals totals;
};

} // namespace

static std::string makePrefix(size_t index) {
  return "f" + std::to_string(index + 1);
}

void PageWriter::order() {
  for (size_t i = 0; i < result.files.size(); ++i) {
    totals.add(result.files[i]);
    byWorst.push_back(i);
  }
  stableSort(byWorst, [&](size_t a, size_t b) {
    return result.files[a].worst() > result.files[b].worst();
  });
}

void PageWriter::writeDetails() {
  details.resize(result.files.size());
  size_t bytes = 0;
  for (size_t index : byWorst) {
    if (bytes > detailBytesLimit)
      return;
    raw_string_ostream stream(details[index]);
    writeHtmlFile(stream, result.files[index], makePrefix(index));
    bytes += details[index].size();
  }
}

void PageWriter::writeHead() {
  std::string title = result.files.size() == 1 ? result.files.front().path
                      : result.job ? result.job->script.path
                                   : countWord(result.files.size(), "file");
  beginHtmlPage(out, {"mpgaudit " MPG_VERSION, title + " - mpgaudit",
                      "Will it be on large pages?", "", htmlPatterns().str()});
  if (result.job)
    out << "<p class=\"verdict\"><strong>"
        << escapeHtml(result.job->verdict.sentence) << "</strong></p>\n";
  out << "<p>";
  std::vector<Finding> all; // only severities matter for the badges
  for (const FileReport &file : result.files)
    append_range(all, file.findings);
  if (result.job)
    append_range(all, result.job->findings);
  // Green beside a job that gets no page would be taken for the answer.
  bool isGreen = all.empty() && result.job && !result.job->verdict.givesAny();
  out << (isGreen ? "no findings" : severityBadges(all)) << " in "
      << countWord(result.files.size(), "file");
  if (result.job)
    out << " and a job script";
  if (result.suppressed)
    out << "; " << countWord(result.suppressed, "finding")
        << " accepted by the project";
  out << ".</p>\n";
  writeTrouble();
  out << "</header>\n";
}

void PageWriter::writeTrouble() {
  if (result.failures.empty())
    return;
  writeHtmlText(out, "Not everything could be audited:", "trouble");
  writeHtmlList(out, ArrayRef(result.failures).take_front(rowLimit));
}

void PageWriter::addRow(HtmlTable &table, size_t index) {
  const FileReport &file = result.files[index];
  std::string path = htmlCode(file.path);
  if (!details[index].empty())
    path = "<a href=\"#" + makePrefix(index) + "\">" + path + "</a>";
  bool isKnown = !file.regions.empty();
  table.addRow({path, kindName(file.kind).str(), targetName(file.target).str(),
                isKnown ? formatBytes(file.dataBytes()) : "-",
                isKnown ? formatBytes(file.eligibleDataBytes()) : "-",
                severityBadges(file.findings)});
}

void PageWriter::writeSummary() {
  if (result.files.size() < 2)
    return;
  out << "<h2>Files</h2>\n";
  {
    HtmlTable table(out, "Files",
                    {"row|File", "Kind", "Target", "size|.data, .bss",
                     "size|Eligible", "Findings"});
    for (size_t index : ArrayRef(byWorst).take_front(rowLimit))
      addRow(table, index);
  }
  if (byWorst.size() > rowLimit)
    out << "<p class=\"muted\">" << byWorst.size() - rowLimit
        << " more files, none worse than these, are not listed.</p>\n";
  size_t undescribed = size_t(
      count_if(details, [](const std::string &text) { return text.empty(); }));
  if (undescribed)
    out << "<p class=\"muted\">The page would be too large with all files: "
        << undescribed << " of the least severe are only in this table. Audit "
        << "fewer at once to see them.</p>\n";
}

/// Only those that occur.
void PageWriter::writeRules() {
  std::set<FindingId> ids;
  for (const auto &[id, counts] : totals.findings)
    ids.insert(id);
  if (result.job)
    for (const Finding &finding : result.job->findings)
      ids.insert(finding.id);
  if (ids.empty())
    return;
  out << "<section id=\"rules\" class=\"rules\">\n<h2>What the findings "
         "mean</h2>\n<dl>\n";
  for (FindingId id : ids) {
    const FindingInfo &info = getInfo(id);
    out << "<dt id=\"rule-" << idText(id) << "\"><code>" << idText(id)
        << "</code> " << escapeHtml(info.summary) << "</dt>\n<dd>";
    for (StringRef text : {info.rule, info.cost})
      for (StringRef paragraph : split(text, "\n\n"))
        out << "<p>" << escapeHtml(paragraph) << "</p>\n";
    out << "<p class=\"muted\">Source: " << escapeHtml(info.source)
        << "</p></dd>\n";
  }
  out << "</dl>\n</section>\n";
}

void PageWriter::write() {
  order();
  writeDetails();
  writeHead();
  out << "<main>\n";
  writeSummary();
  if (result.job)
    writeJob(out, *result.job);
  for (size_t index : byWorst)
    out << details[index];
  writeRules();
  endHtmlPage(out,
              "mpgaudit " MPG_VERSION
              ". <em>Eligible</em> is memory without an obstacle; what the "
              "kernel gives is seen only at run time, with <code>mpgrun "
              "--report</code>.");
}

void mpg::writeHtml(raw_ostream &out, const RunResult &result) {
  PageWriter(out, result).write();
}
