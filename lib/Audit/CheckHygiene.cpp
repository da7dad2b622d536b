// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG160 and MPG161: protections that a runtime has to carry over when it
// moves memory, and one that shares a large page with what would move.

#include "Audit/Checks.h"
#include "Elf/HugeLayout.h"
#include "Support/Format.h"
#include <elf.h>

using namespace llvm;
using namespace mpg;

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
      "An assembler source lacks its .note.GNU-stack section; add "
      "it, or tell the linker:");
}

static void checkProtections(const Subject &subject, Findings &findings) {
  if (subject.image.dynamic().textrel)
    addTextrel(findings);
  if (hasWritableCode(subject.image))
    addWritableCode(findings);
  if (hasExecutableStack(subject.image))
    addExecutableStack(findings);
}

/// Bytes of writable segments, RELRO left out, in the granule where \p relro
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
  // Below this nobody would move the data anyway.
  if (!relro || relro->memoryBytes == 0 || !subject.image.isProgram() ||
      writableBytes(subject.image.loads()) < subject.settings.minBytes)
    return;
  uint64_t bytes = sharedBytes(subject, *relro);
  if (bytes == 0)
    return;
  // What is not worth a larger file for MPG103 is not worth one here.
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
