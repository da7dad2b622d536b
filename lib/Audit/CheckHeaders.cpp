// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of the ELF header and the program headers of one file. MPG9xx: claims
// that do not hold. MPG102: a PIE, whose data Fujitsu's library leaves on
// normal pages. MPG150 to MPG152: alignment. MPG160 and MPG161: protections.

#include "Audit/Checks.h"
#include "Audit/Finding.h"
#include "Elf/HugeLayout.h"
#include "Support/Format.h"
#include <elf.h>
#include <map>

using namespace mpg;
using namespace llvm;

/// A damaged table can break one rule in every entry; a reader needs a few.
static constexpr unsigned findingsPerReason = 4;

void mpg::checkMalformed(const Subject &subject, Findings &findings) {
  bool wanted = findings.wantsAny(900, 999);
  if (wanted)
    subject.image.readEverything();
  // By number, which goes from the file header inwards: the first is likely
  // the cause of the others.
  std::map<DefectKind, std::vector<const Defect *>> byKind;
  for (const Defect &defect : subject.image.defects())
    if ((wanted || defect.fatal) &&
        byKind[defect.kind].size() < findingsPerReason)
      byKind[defect.kind].push_back(&defect);
  for (const auto &[kind, defects] : byKind)
    for (const Defect *defect : defects) {
      Finding &finding =
          findings.add(FindingId(kind), defect->field + ": " + defect->reason);
      if (!defect->fatal)
        finding.severity = Severity::warning;
      finding.field = defect->field;
      finding.offset = defect->offset;
    }
}

void mpg::checkPie(const Subject &subject, Findings &findings) {
  ElfKind kind = subject.image.kind();
  if (kind != ElfKind::pie && kind != ElfKind::staticPie)
    return;
  Finding &finding = findings.add(
      FindingId::mpg102,
      kind == ElfKind::pie
          ? "the program is position independent (PIE)"
          : "the program is static and position independent (static PIE)");
  finding.evidence = subject.image.dynamic().flags1 & 0x08000000
                         ? "e_type is ET_DYN, DT_FLAGS_1 has PIE"
                         : "e_type is ET_DYN with an interpreter and no "
                           "SONAME";
  if (subject.target == Target::fugaku)
    return;
  finding.cost = "nothing for this target; Fujitsu's library would leave .data "
                 "and .bss on normal pages";
  finding.setFix("");
}

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

static void addTextrel(Findings &findings) {
  Finding &finding = findings.add(
      FindingId::mpg160, "code is patched at start-up (text relocations)");
  finding.sub = "textrel";
  finding.evidence = "DT_TEXTREL or DF_TEXTREL in the dynamic section";
  finding.cost = "every process has its own copy of the patched code; a "
                 "security policy may refuse the file";
  finding.setFix("Compile all objects of a library with -fPIC, of a PIE with "
                 "-fPIE. The linker names those that are not when it gets "
                 "-Wl,-z,text.");
}

static void addWritableCode(Findings &findings) {
  Finding &finding =
      findings.add(FindingId::mpg160, "a segment is writable and executable");
  finding.sub = "rwx";
  finding.evidence = "a PT_LOAD has PF_W and PF_X";
  finding.cost = "a runtime that moves .data and .bss must keep them "
                 "executable; a security policy may refuse the file";
  finding.setFix("Take -N or --omagic out of the link command; in a linker "
                 "script give code and data segments of their own.");
}

static void addExecutableStack(Findings &findings) {
  Finding &finding = findings.add(FindingId::mpg160, "the stack is executable");
  finding.sub = "execstack";
  finding.evidence = "PT_GNU_STACK has PF_X";
  finding.cost = "a runtime that moves stacks must keep them executable; a "
                 "security policy may refuse the file";
  finding.setFixWords(
      "An internal procedure (Fortran) or nested function (C) that is passed "
      "on needs code on the stack: compile with -ftrampoline-impl=heap (gcc "
      "14) or -fsafe-trampoline (flang 23). The flag below would end such a "
      "program by SIGSEGV. The flag is for an assembler source that lacks its "
      ".note.GNU-stack section:");
}

static void checkProtections(const Subject &subject, Findings &findings) {
  if (subject.image.dynamic().textrel)
    addTextrel(findings);
  if (hasWritableCode(subject.image))
    addWritableCode(findings);
  if (hasExecutableStack(subject.image))
    addExecutableStack(findings);
}

/// Bytes of writable segments, RELRO left out, in the frame where \p relro
/// ends or begins.
static uint64_t sharedBytes(const Subject &subject, const Segment &relro) {
  std::vector<AddressRange> data;
  for (const Segment &load : subject.image.loads())
    if (load.writable())
      data.push_back({load.address, load.end()});
  subtractRange(data, {relro.address, relro.end()});
  uint64_t start = roundDown(relro.address, subject.hugeBytes);
  uint64_t end = roundUp(relro.end(), subject.hugeBytes);
  return coveredBytes(data, start, end - start);
}

static void checkRelro(const Subject &subject, Findings &findings) {
  const Segment *relro = subject.image.findSegment(PT_GNU_RELRO);
  // Below this moving the data is not worth it anyway.
  if (!relro || relro->memoryBytes == 0 || !subject.image.isProgram() ||
      writableBytes(subject.image.loads()) < subject.settings.minBytes)
    return;
  uint64_t bytes = sharedBytes(subject, *relro);
  if (bytes == 0)
    return;
  // If MPG103 does not justify a larger file, this finding does not either.
  bool asked = subject.settings.named.contains(FindingId::mpg161);
  bool small = bytes < subject.settings.minBytes;
  if (subject.target == Target::mpg && !asked &&
      (small || findings.has(FindingId::mpg103)))
    return;
  Finding &finding =
      findings.add(FindingId::mpg161,
                   "RELRO at " + formatHex(relro->address) + " shares a " +
                       formatBytes(subject.hugeBytes) + " page with " +
                       formatBytes(bytes) + " of writable data");
  finding.where.address = relro->address;
  finding.where.bytes = bytes;
}

void mpg::checkHygiene(const Subject &subject, Findings &findings) {
  if (!subject.image.isLoadable())
    return;
  if (findings.wants(FindingId::mpg160))
    checkProtections(subject, findings);
  if (findings.wants(FindingId::mpg161))
    checkRelro(subject, findings);
}
