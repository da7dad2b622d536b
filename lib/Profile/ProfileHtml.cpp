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

static void writePiece(raw_ostream &out, StringRef kind, double &at,
                       double width) {
  if (width <= 0)
    return;
  out << "<rect class=\"" << kind << "\" x=\"" << format("%.1f", at)
      << "\" y=\"1\" width=\"" << format("%.1f", std::max(width, 0.5))
      << "\" height=\"12\"/>";
  at += width;
}

static void beginBar(raw_ostream &out, double width, StringRef words) {
  out << "<svg class=\"bar\" role=\"img\" aria-label=\"" << escapeHtml(words)
      << "\" width=\"" << int(width) << "\" height=\"14\" viewBox=\"0 0 "
      << int(width) << " 14\" preserveAspectRatio=\"none\"><title>"
      << escapeHtml(words) << "</title>";
}

/// \p max: bytes of a bar of full length.
static void writePageBar(raw_ostream &out, const ProfileObject &object,
                         uint64_t max) {
  double all = barWidth * double(object.peakBytes) / double(max), at = 0;
  if (!object.pages) {
    beginBar(out, barWidth, "not known");
    writePiece(out, "unknown", at, all);
    out << "</svg>";
    return;
  }
  const PageUse &pages = *object.pages;
  auto share = [&](uint64_t bytes) {
    return object.lookedBytes ? all * double(bytes) / double(object.lookedBytes)
                              : 0;
  };
  bool isKnown = object.isHugeKnown && (pages.hugeBytes || !pages.unknownBytes);
  beginBar(out, barWidth,
           percentText(pages.usedBytes, object.lookedBytes) + " in use, " +
               (isKnown ? percentText(pages.hugeBytes, pages.usedBytes) +
                              " of that on large pages"
                        : "pages not known"));
  if (isKnown) {
    writePiece(out, "large", at, share(pages.hugeBytes));
    writePiece(out, "normal", at, share(pages.usedBytes - pages.hugeBytes));
  } else {
    writePiece(out, "unknown", at, share(pages.usedBytes));
  }
  writePiece(out, "unused", at, all - at);
  out << "</svg>";
}

static void writeThreadBar(raw_ostream &out, const FaultCount &faults,
                           uint32_t firstThread) {
  if (!faults.faults)
    return;
  beginBar(out, threadWidth, describeThreads(faults, firstThread));
  double at = 0;
  unsigned number = 0;
  for (auto [thread, count] : faults.threads)
    writePiece(out,
               thread == firstThread ? "t0"
               : number++ % 2        ? "t1"
                                     : "t2",
               at, threadWidth * double(count) / double(faults.faults));
  out << "</svg><br>" << escapeHtml(describeThreads(faults, firstThread));
}

/// The nearest one; the others if they are asked for.
static void writeCallers(raw_ostream &out, const ProfileObject &object) {
  if (object.callers.size() < 2)
    return;
  auto write = [&](StringRef caller) {
    out << "<span class=\"muted\">from <code>" << escapeHtml(caller.str())
        << "</code></span>";
  };
  ArrayRef<std::string> outer = ArrayRef(object.callers).drop_front(2);
  out << (outer.empty() ? "<br>" : "<details><summary>");
  write(object.callers[1]);
  if (outer.empty())
    return;
  out << "</summary>";
  for (StringRef caller : outer) {
    write(caller);
    out << "<br>";
  }
  out << "</details>";
}

static void writeObject(HtmlTable &table, const Profile &profile,
                        const ProfileObject &object) {
  table.cell() << regionName(object.region);
  raw_ostream &name = table.cell() << htmlCode(object.name);
  if (!object.file.empty() && !StringRef(object.name).starts_with(object.file))
    name << " <span class=\"muted\">" << escapeHtml(object.file) << "</span>";
  writeCallers(name, object);
  raw_ostream &pages = table.cell();
  writePageBar(pages, object, profile.objects.front().peakBytes);
  if (object.pages) {
    pages << "<br><span class=\"muted\">"
          << escapeHtml(describePage(*object.pages, object.bytes == 0));
    if (liesOnSeveralNodes(profile))
      pages << "; " << escapeHtml(describeNodes(*object.pages));
    pages << "</span>";
  }
  bool areKnown = profile.faultsMissing.empty();
  table.cell() << formatBytes(object.peakBytes);
  table.cell() << (object.bytes ? formatBytes(object.bytes) : "-");
  table.cell() << (object.blocks ? std::to_string(object.blocks) : "");
  table.cell() << (areKnown ? std::to_string(object.faults.faults) : "?");
  table.cell() << (areKnown ? describeSeconds(
                                  faultSeconds(object, profile.faultCosts))
                            : "?");
  writeThreadBar(table.cell(), object.faults, profile.firstThread);
}

/// Frames without an access, then those with one, the fullest last.
static void writeFrameBar(raw_ostream &out, const AccessCount &count) {
  static constexpr StringRef kinds[] = {"q1", "q2", "q3", "large"};
  beginBar(out, barWidth, describeAccesses(count));
  double at = 0, each = barWidth / double(count.frames);
  writePiece(out, "unused", at,
             each * double(count.frames - count.allHotFrames()));
  for (size_t i = 0; i < count.hotFrames.size(); ++i)
    writePiece(out, kinds[i], at, each * double(count.hotFrames[i]));
  out << "</svg><br>";
}

static void writeAccesses(HtmlTable &table, const ProfileObject &object) {
  const AccessCount &count = object.accesses;
  table.cell() << regionName(object.region);
  table.cell() << htmlCode(object.name);
  raw_ostream &picture = table.cell();
  if (count.frames)
    writeFrameBar(picture, count);
  picture << "<span class=\"muted\">" << describeAccesses(count) << "</span>";
  table.cell() << formatBytes(count.presentBytes / count.intervals);
  table.cell() << percentText(count.accessedBytes, count.presentBytes);
  table.cell() << percentText(count.hotFramePercent());
  table.cell() << percentText(count.skewPercent());
}

static void writeWorkingSetTable(raw_ostream &out, const Profile &profile) {
  if (!profile.workingSet)
    return;
  HtmlSection section(out, "Working set");
  if (!profile.workingSet->missing.empty())
    return writeHtmlText(out, describeWorkingSet(profile));
  writeHtmlText(out, describeWorkingSet(profile) +
                         ". The bar: 2 MiB frames, from those without an "
                         "access to those that were accessed whole.");
  {
    HtmlTable table(out, "Working set",
                    {"region", "row|object", "picture|frames", "size|in use",
                     "size|accessed", "size|hot frames", "size|skew"});
    for (const ProfileObject &object :
         ArrayRef(profile.objects).take_front(maxObjects))
      if (object.accesses.presentBytes)
        writeAccesses(table, object);
  }
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
  {
    HtmlTable table(out, "Objects",
                    {"region", "row|object", "picture|pages; length: the peak",
                     "size|peak", "size|at end", "size|blocks", "size|faults",
                     "size|cost", "touched first by"});
    for (const ProfileObject &object :
         ArrayRef(profile.objects).take_front(maxObjects))
      writeObject(table, profile, object);
  }
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
