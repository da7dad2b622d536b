// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The job script in the HTML report: what it asks for, what it starts, and
// what was found in which line.

#include "Render/HtmlParts.h"
#include "Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

/// Of launched programs and of unreadable lines; a script may be generated.
static constexpr size_t lineLimit = 200;

static std::string wordsText(const std::vector<JobWord> &words) {
  std::string text;
  for (const JobWord &word : words)
    text += (text.empty() ? "" : " ") + word.text;
  return text;
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
    lines.emplace(directive.line, (wordsOf(directive.scheduler).mark + " " +
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
  add("batch system", wordsOf(script.scheduler).name.str());
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
  out << "<h3>Programs that it starts</h3>\n<div class=\"scroll\" "
         "tabindex=\"0\" role=\"region\" aria-label=\"Programs that the script "
         "starts\"><table>\n<thead><tr><th scope=\"col\">Line</th><th "
         "scope=\"col\">Command</th><th scope=\"col\" class=\"size\">Processes "
         "on a node</th><th scope=\"col\" class=\"size\">Threads</th></tr>"
         "</thead>\n<tbody>\n";
  auto number = [](std::optional<unsigned> value) {
    return value ? std::to_string(*value) : "?";
  };
  for (size_t i = 0; i < std::min(script.launches.size(), lineLimit); ++i) {
    const JobLaunch &launch = script.launches[i];
    out << "<tr><th scope=\"row\">" << launch.line << "</th><td><code>"
        << escapeHtml(launchText(launch)) << "</code></td><td class=\"size\">"
        << number(launch.launch.ranksPerNode) << "</td><td class=\"size\">"
        << number(launch.launch.threads) << "</td></tr>\n";
  }
  out << "</tbody></table></div>\n";
}

static void writeProblems(raw_ostream &out, const JobScript &script) {
  if (script.problems.empty())
    return;
  out << "<h3>Not understood</h3>\n<ul>\n";
  for (size_t i = 0; i < std::min(script.problems.size(), lineLimit); ++i)
    out << "<li>line " << script.problems[i].line << ": "
        << escapeHtml(script.problems[i].text) << "</li>\n";
  out << "</ul>\n";
}

void mpg::writeHtmlJob(raw_ostream &out, const JobReport &job) {
  out << "<section id=\"job\">\n<h2>" << escapeHtml(job.script.path)
      << "</h2>\n<p class=\"verdict\">" << severityBadges(job.findings)
      << " in the job script</p>\n";
  writeFacts(out, job.script);
  writeLaunches(out, job.script);
  if (!job.findings.empty())
    out << "<h3>Findings</h3>\n";
  std::map<unsigned, std::string> lines = scriptLines(job.script);
  writeHtmlFindings(out, job.findings, FixContext(), "job", &lines);
  writeProblems(out, job.script);
  out << "</section>\n";
}
