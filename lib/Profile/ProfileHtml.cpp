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
      << int(width) << " 14\"><title>" << escapeHtml(words) << "</title>";
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

static void writeObject(raw_ostream &out, const Profile &profile,
                        const ProfileObject &object, uint64_t max,
                        bool severalNodes) {
  out << "<tr><td>" << regionName(object.region)
      << "</td><th scope=\"row\"><code>" << escapeHtml(object.name)
      << "</code>";
  if (!object.file.empty() && !StringRef(object.name).starts_with(object.file))
    out << " <span class=\"muted\">" << escapeHtml(object.file) << "</span>";
  writeCallers(out, object);
  out << "</th><td class=\"picture\">";
  writePageBar(out, object, max);
  if (object.pages) {
    out << "<br><span class=\"muted\">"
        << escapeHtml(describePage(*object.pages, object.bytes == 0));
    if (severalNodes)
      out << "; " << escapeHtml(describeNodes(*object.pages));
    out << "</span>";
  }
  out << "</td><td class=\"size\">" << formatBytes(object.peakBytes)
      << "</td><td class=\"size\">"
      << (object.bytes ? formatBytes(object.bytes) : "-")
      << "</td><td class=\"size\">"
      << (object.blocks ? std::to_string(object.blocks) : "")
      << "</td><td class=\"size\">"
      << (profile.faultsMissing.empty() ? std::to_string(object.faults.faults)
                                        : "?")
      << "</td><td class=\"size\">"
      << (profile.faultsMissing.empty()
              ? describeSeconds(faultSeconds(object, profile.faultCosts))
              : "?")
      << "</td><td>";
  writeThreadBar(out, object.faults, profile.firstThread);
  out << "</td></tr>\n";
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

static void writeAccesses(raw_ostream &out, const ProfileObject &object) {
  const AccessCount &count = object.accesses;
  out << "<tr><td>" << regionName(object.region)
      << "</td><th scope=\"row\"><code>" << escapeHtml(object.name)
      << "</code></th><td class=\"picture\">";
  if (count.frames)
    writeFrameBar(out, count);
  out << "<span class=\"muted\">" << describeAccesses(count)
      << "</span></td><td class=\"size\">"
      << formatBytes(count.presentBytes / count.intervals)
      << "</td><td class=\"size\">"
      << percentText(count.accessedBytes, count.presentBytes)
      << "</td><td class=\"size\">" << percentText(count.hotFramePercent())
      << "</td><td class=\"size\">" << percentText(count.skewPercent())
      << "</td></tr>\n";
}

static void writeWorkingSetTable(raw_ostream &out, const Profile &profile) {
  if (!profile.workingSet)
    return;
  out << "<section><h2>Working set</h2>\n<p>"
      << escapeHtml(describeWorkingSet(profile));
  if (!profile.workingSet->missing.empty()) {
    out << "</p></section>\n";
    return;
  }
  out << ". The bar: 2 MiB frames, from those without an access to those that "
         "were accessed whole.</p>\n";
  beginHtmlTable(out, "Working set",
                 {"region", "object", "frames", ">in use", ">accessed",
                  ">hot frames", ">skew"});
  for (const ProfileObject &object :
       ArrayRef(profile.objects).take_front(maxObjects))
    if (object.accesses.presentBytes)
      writeAccesses(out, object);
  endHtmlTable(out);
  out << "</section>\n";
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
  out << "<section><h2>Counts of the whole run</h2>\n<table><tbody>\n<tr><th "
         "scope=\"row\">page faults</th><td>"
      << escapeHtml(describeFaults(profile)) << "</td></tr>\n";
  std::string tlbMisses = describeTlbMisses(profile);
  if (!tlbMisses.empty())
    out << "<tr><th scope=\"row\">misses of the TLB by object</th><td>"
        << escapeHtml(tlbMisses) << "</td></tr>\n";
  if (profile.stalls)
    out << "<tr><th scope=\"row\">stalls of the whole machine</th><td>"
        << escapeHtml(profile.stalls->describe()) << "</td></tr>\n";
  for (const auto &[names, what] : describeCounters(profile.counters))
    out << "<tr><th scope=\"row\">" << escapeHtml(names) << "</th><td>"
        << escapeHtml(what) << "</td></tr>\n";
  out << "</tbody></table></section>\n";
}

static void writeHead(raw_ostream &out, const Profile &profile) {
  std::string title = "Arrays of " + profile.program;
  beginHtmlPage(out, "mpgrun " MPG_VERSION, title + " - mpgrun", profileStyle);
  out << "<header>\n<h1>" << escapeHtml(title) << "</h1>\n<p class=\"facts\">"
      << describeEnding(profile.waitStatus) << ", "
      << format("%.2f s", profile.seconds) << "; memory by object of "
      << formatBytes(minObjectBytes) << " and more</p>\n";
  for (const std::string &trouble :
       {profile.problem, profile.otherProcesses,
        profile.faultsMissing.empty()
            ? ""
            : "page faults of objects: " + profile.faultsMissing})
    if (!trouble.empty())
      out << "<p class=\"trouble\">" << escapeHtml(trouble) << "</p>\n";
  out << "</header>\n";
}

static void writeObjectTable(raw_ostream &out, const Profile &profile) {
  if (profile.objects.empty()) {
    out << "<p>No object is that large.</p>\n";
    return;
  }
  writeLegend(out);
  beginHtmlTable(out, "Objects",
                 {"region", "object", "pages; length: the peak", ">peak",
                  ">at end", ">blocks", ">faults", ">cost",
                  "touched first by"});
  bool severalNodes = liesOnSeveralNodes(profile);
  for (const ProfileObject &object :
       ArrayRef(profile.objects).take_front(maxObjects))
    writeObject(out, profile, object, profile.objects.front().peakBytes,
                severalNodes);
  endHtmlTable(out);
  if (profile.objects.size() > maxObjects)
    out << "<p>" << profile.objects.size() - maxObjects << " more.</p>\n";
}

void mpg::writeProfileHtml(raw_ostream &out, const Profile &profile) {
  writeHead(out, profile);
  out << "<main>\n";
  writeObjectTable(out, profile);
  writeWorkingSetTable(out, profile);
  writeCounters(out, profile);
  out << "</main>\n</body>\n</html>\n";
}
