// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpgrun --profile --html: one page that can be mailed and opened anywhere. It
// loads nothing and runs nothing. Each object has a bar as long as its peak:
// what of it lay on large pages, what on others, what was not in use; and one
// for the threads that touched it first.

#include "Profile/Profile.h"
#include "Support/Format.h"
#include "Support/HtmlPage.h"
#include "llvm/Support/Format.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

static constexpr double barWidth = 180, threadWidth = 100;
static constexpr size_t maxObjects = 500;

static constexpr StringRef profileStyle = R"css(
body{max-width:80rem}
.bar .large{fill:var(--clean)}.bar .normal{fill:var(--data)}
.bar .unused{fill:var(--track);stroke:var(--line)}
.bar .unknown{fill:var(--constant)}
.bar .t0{fill:var(--code)}.bar .t1{fill:var(--bss);stroke:var(--hatch)}
.bar .t2{fill:var(--relro)}
.bar .q1{fill:var(--clean);opacity:.25}.bar .q2{fill:var(--clean);opacity:.5}
.bar .q3{fill:var(--clean);opacity:.75}
td.picture{padding-right:1rem}
tbody th{min-width:11rem}th summary{width:auto}
td code{white-space:nowrap}th .muted{font-weight:400;font-size:.85rem}
@media(max-width:60rem){td .bar{max-width:4.5rem}td.picture{padding-right:.5rem}
tbody th{min-width:9rem}}
)css";

namespace {

/// A bar of pieces, one behind the other.
class Bar {
public:
  Bar(double width, StringRef words) {
    out << "<svg class=\"bar\" role=\"img\" aria-label=\"" << escapeHtml(words)
        << "\" width=\"" << int(width) << "\" height=\"14\" viewBox=\"0 0 "
        << int(width) << " 14\" preserveAspectRatio=\"none\"><title>"
        << escapeHtml(words) << "</title>";
  }
  void add(StringRef kind, double width) {
    if (width <= 0)
      return;
    out << "<rect class=\"" << kind << "\" x=\"" << format("%.1f", at)
        << "\" y=\"1\" width=\"" << format("%.1f", std::max(width, 0.5))
        << "\" height=\"12\"/>";
    at += width;
  }
  std::string finish() { return text + "</svg>"; }
  double at = 0; ///< where the next piece begins

private:
  std::string text;
  raw_string_ostream out{text};
};

} // namespace

std::string mpg::drawPages(const ProfileObject &object, uint64_t max) {
  double all = barWidth * double(object.peakBytes) / double(max);
  if (!object.pages) {
    Bar bar(barWidth, "not known");
    bar.add("unknown", all);
    return bar.finish();
  }
  const PageUse &pages = *object.pages;
  auto share = [&](uint64_t bytes) {
    return object.lookedBytes ? all * double(bytes) / double(object.lookedBytes)
                              : 0;
  };
  bool isKnown = isHugeKnown(object);
  Bar bar(barWidth,
          percentText(pages.usedBytes, object.lookedBytes) + " in use, " +
              (isKnown ? percentText(pages.hugeBytes, pages.usedBytes) +
                             " of that on large pages"
                       : "pages not known"));
  if (isKnown) {
    bar.add("large", share(pages.hugeBytes));
    bar.add("normal", share(pages.usedBytes - pages.hugeBytes));
  } else {
    bar.add("unknown", share(pages.usedBytes));
  }
  bar.add("unused", all - bar.at);
  return bar.finish();
}

std::string mpg::drawThreads(const FaultCount &faults, uint32_t firstThread) {
  if (!faults.faults)
    return "";
  Bar bar(threadWidth, describeThreads(faults, firstThread));
  unsigned number = 0;
  for (auto [thread, count] : faults.threads)
    bar.add(thread == firstThread ? "t0"
            : number++ % 2        ? "t1"
                                  : "t2",
            threadWidth * double(count) / double(faults.faults));
  return bar.finish() + "<br>";
}

std::string mpg::drawFrames(const AccessCount &count) {
  static constexpr StringRef kinds[] = {"q1", "q2", "q3", "large"};
  if (!count.frames)
    return "";
  Bar bar(barWidth, describeAccesses(count));
  double each = barWidth / double(count.frames);
  bar.add("unused", each * double(count.frames - count.allHotFrames()));
  for (size_t i = 0; i < count.hotFrames.size(); ++i)
    bar.add(kinds[i], each * double(count.hotFrames[i]));
  return bar.finish();
}

static void writeWorkingSetTable(raw_ostream &out, const Profile &profile) {
  if (!profile.workingSet)
    return;
  HtmlSection section(out, "Working set");
  if (!hasAccesses(profile))
    return writeHtmlText(out, describeWorkingSet(profile));
  writeHtmlText(out, describeWorkingSet(profile) +
                         ". The bar: 2 MiB frames, from those without an "
                         "access to those that were accessed whole.");
  makeAccessTable(profile, maxObjects).writeHtml(out, "Working set");
}

static void writeLegend(raw_ostream &out) {
  static constexpr std::pair<StringRef, StringRef> kinds[] = {
      {"large", "in use on large pages"}, {"normal", "in use on base pages"},
      {"unused", "not in use"},           {"unknown", "not known"},
      {"t0", "touched first by main"},    {"t2", "by another thread"},
      {"t1", "and by the next one"}};
  out << "<ul class=\"legend\">";
  for (auto [kind, words] : kinds)
    out << "<li><svg class=\"bar\" width=\"14\" height=\"14\" "
           "aria-hidden=\"true\"><rect class=\""
        << kind << "\" x=\"1\" y=\"1\" width=\"12\" height=\"12\"/></svg> "
        << words << "</li>";
  out << "</ul>\n";
}

static void writeCounters(raw_ostream &out, const Profile &profile) {
  auto row = [&](StringRef name, StringRef text) {
    out << "<tr><th scope=\"row\">" << escapeHtml(name) << "</th><td>"
        << escapeHtml(text) << "</td></tr>\n";
  };
  HtmlSection section(out, "Counts of the whole run");
  out << "<table><tbody>\n";
  row("page faults", describeFaults(profile));
  std::string tlbMisses = describeTlbMisses(profile);
  if (!tlbMisses.empty())
    row("misses of the TLB by object", tlbMisses);
  if (std::string code = describeCode(profile); !code.empty())
    row("user time by code", code);
  if (profile.stalls)
    row("stalls of the whole machine", profile.stalls->describe());
  for (const auto &[names, what] : describeCounters(profile.counters))
    row(names, what);
  out << "</tbody></table>\n";
}

static void writeHead(raw_ostream &out, const Profile &profile) {
  std::string title = "Arrays of " + profile.program;
  beginHtmlPage(out, {"mpgrun " MPG_VERSION, title + " - mpgrun", title,
                      profileStyle.str()});
  out << "<p class=\"facts\">" << describeEnding(profile.waitStatus) << ", "
      << format("%.2f s", profile.seconds) << "; memory by object of "
      << formatBytes(minObjectBytes) << " and more</p>\n";
  for (const std::string &trouble :
       {profile.problem, profile.otherProcesses,
        profile.faultsMissing.empty()
            ? ""
            : "page faults of objects: " + profile.faultsMissing})
    if (!trouble.empty())
      writeHtmlText(out, trouble, "trouble");
  out << "</header>\n";
}

static void writeObjectTable(raw_ostream &out, const Profile &profile) {
  if (profile.objects.empty()) {
    out << "<p>No object is that large.</p>\n";
    return;
  }
  writeLegend(out);
  makeObjectTable(profile, maxObjects).writeHtml(out, "Objects");
  if (profile.objects.size() > maxObjects)
    out << "<p>" << profile.objects.size() - maxObjects << " more.</p>\n";
}

void mpg::writeProfileHtml(raw_ostream &out, const Profile &profile) {
  writeHead(out, profile);
  out << "<main>\n";
  writeObjectTable(out, profile);
  writeWorkingSetTable(out, profile);
  writeCounters(out, profile);
  endHtmlPage(out);
}
