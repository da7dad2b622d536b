// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG150 to MPG152: do the segments fit the kernel's base page, and do they
// ask for more alignment than a large page has?

#include "Audit/Checks.h"
#include "Audit/Fix.h"
#include "Elf/HugeLayout.h"
#include "Support/Format.h"

using namespace llvm;
using namespace mpg;

static void fillWhere(Finding &finding, const Segment &load, unsigned index) {
  finding.where.address = load.address;
  finding.where.bytes = load.memoryBytes;
  finding.where.segments = {index};
}

static bool isCongruent(const Segment &load, uint64_t page) {
  return (load.address - load.offset) % page == 0;
}

/// Do two neighbours have bytes in the same base page?
static bool sharePage(const Segment &first, const Segment &second,
                      uint64_t page) {
  return first.memoryBytes != 0 &&
         roundUp(first.end(), page) > roundDown(second.address, page);
}

/// The kernel does not look at p_align of a program: where addresses and file
/// offsets agree and no page is shared (-N, -n), it starts all the same.
static bool startsAnyway(const Subject &subject) {
  ArrayRef<Segment> loads = subject.image.loads();
  if (!subject.image.isProgram())
    return false;
  for (unsigned i = 0; i < loads.size(); ++i)
    if (!isCongruent(loads[i], subject.pageBytes) ||
        (i > 0 && sharePage(loads[i - 1], loads[i], subject.pageBytes)))
      return false;
  return true;
}

static void addBasePage(const Subject &subject, Findings &findings,
                        unsigned index) {
  const Segment &load = subject.image.loads()[index];
  bool congruent = isCongruent(load, subject.pageBytes);
  Finding &finding = findings.add(
      FindingId::mpg150,
      "segment " + std::to_string(index) + " at " + formatHex(load.address) +
          (congruent ? " is aligned to " + formatBytes(load.align) +
                           ", the kernel's pages are "
                     : " and its file offset " + formatHex(load.offset) +
                           " differ within pages of ") +
          formatBytes(subject.pageBytes));
  finding.sub = congruent ? "align" : "congruence";
  fillWhere(finding, load, index);
  if (!startsAnyway(subject))
    return;
  finding.severity = Severity::note;
  finding.cost = "nothing for this program: addresses and file offsets agree, "
                 "and no two segments share a page";
  finding.setFix("");
}

/// One segment that a kernel with this base page cannot map is enough, and one
/// whose address and offset disagree says more than one with a small p_align.
static bool checkBasePage(const Subject &subject, Findings &findings) {
  uint64_t page = subject.pageBytes;
  ArrayRef<Segment> loads = subject.image.loads();
  std::optional<unsigned> worst;
  for (unsigned i = 0; i < loads.size(); ++i) {
    bool congruent = isCongruent(loads[i], page);
    bool aligned = loads[i].align >= page && loads[i].align % page == 0;
    if ((aligned && congruent) || (worst && congruent))
      continue;
    worst = i;
    if (!congruent)
      break;
  }
  if (worst && findings.wants(FindingId::mpg150))
    addBasePage(subject, findings, *worst);
  return !worst;
}

static void checkSharedPage(const Subject &subject, Findings &findings) {
  ArrayRef<Segment> loads = subject.image.loads();
  for (unsigned i = 1; i < loads.size(); ++i) {
    const Segment &first = loads[i - 1], &second = loads[i];
    if (first.flags == second.flags ||
        !sharePage(first, second, subject.pageBytes))
      continue;
    Finding &finding = findings.add(
        FindingId::mpg151,
        "segments " + std::to_string(i - 1) + " and " + std::to_string(i) +
            " share the " + formatBytes(subject.pageBytes) + " page at " +
            formatHex(roundDown(second.address, subject.pageBytes)));
    fillWhere(finding, second, i);
    finding.where.segments = {i - 1, i};
  }
}

/// The file was linked for larger pages on purpose.
static void nameLargerPages(const Subject &subject, const Segment &load,
                            Finding &finding) {
  const std::optional<mpg_note_layout> &note = subject.linkFacts().note;
  if (!note || (note->flags & MPG_LAYOUT_SKIPPED) ||
      load.align > note->hugeBytes)
    return;
  std::string linked = pageOption(note->hugeBytes);
  finding.evidence = "linked by ld.mpg with --mpg-huge=" + linked;
  finding.setFix(
      "Audit it with --huge=" + linked +
      ", or link it with --mpg-huge=" + pageOption(subject.hugeBytes) + ".");
}

static void checkLargeAlign(const Subject &subject, Findings &findings) {
  unsigned index = 0;
  for (const Segment &load : subject.image.loads()) {
    unsigned at = index++;
    if (load.align <= subject.hugeBytes)
      continue;
    Finding &finding =
        findings.add(FindingId::mpg152,
                     "segment " + std::to_string(at) + " at " +
                         formatHex(load.address) + " is aligned to " +
                         formatBytes(load.align) + ", more than a large page");
    fillWhere(finding, load, at);
    nameLargerPages(subject, load, finding);
    return;
  }
}

void mpg::checkPageSize(const Subject &subject, Findings &findings) {
  if (!subject.image.isLoadable())
    return;
  if (checkBasePage(subject, findings) && findings.wants(FindingId::mpg151))
    checkSharedPage(subject, findings);
  if (findings.wants(FindingId::mpg152))
    checkLargeAlign(subject, findings);
}
