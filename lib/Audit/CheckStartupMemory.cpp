// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG140 and MPG142: what moving .data and .bss needs, against what there is,
// and against what they hold.

#include "Audit/Checks.h"
#include "Audit/Paging.h"
#include "Elf/HugeLayout.h"
#include "Support/Format.h"

using namespace llvm;
using namespace mpg;

/// What 32 GiB of HBM leave for a job. HW:a64fx-node-memory
static constexpr uint64_t fugakuMemoryBytes = uint64_t(28) << 30;

/// One process per core memory group. HW:a64fx-cmgs
static constexpr unsigned usualRanks = 4;

/// Peak and limit are often close, and 1.04 GiB reads as "1 GiB".
static std::string inMebibytes(uint64_t bytes) {
  constexpr uint64_t mebibyte = 1 << 20;
  return std::to_string(bytes / mebibyte + (bytes % mebibyte != 0)) + " MiB";
}

/// What the job says about .bss; for the libraries that read the variable.
static PagingState pagingOf(const Subject &subject) {
  bool reads =
      subject.target == Target::fugaku || subject.target == Target::mpg;
  return reads ? pagingState(subject.launch()) : PagingState();
}

static void checkPeak(const Subject &subject, Findings &findings) {
  std::optional<uint64_t> memory = subject.settings.memoryBytes;
  if (!memory && subject.target == Target::fugaku)
    memory = fugakuMemoryBytes;
  PagingState paging = pagingOf(subject);
  if (!memory || paging.off)
    return;
  uint64_t moved = startupBytes(subject.image.loads(), subject.hugeBytes,
                                paging.policy.bssPrepaged);
  uint64_t peak = startupPeakBytes(subject.target, moved);
  if (peak <= *memory / usualRanks)
    return;
  bool dies = peak > *memory;
  // How many there are MPG226 knows better than "the usual four".
  if (!dies && subject.launch() && subject.launch()->ranksPerNode)
    return;
  Finding &finding = findings.add(
      FindingId::mpg140,
      "start-up needs " + inMebibytes(peak) +
          (dies ? ", a process has " + inMebibytes(*memory)
                : "; four processes do not fit into " + inMebibytes(*memory)));
  finding.sub = dies ? "one-process" : "four-processes";
  if (!dies)
    finding.severity = Severity(
        std::max(unsigned(finding.severity) - 1, unsigned(Severity::note)));
  finding.where.bytes = peak;
  finding.evidence =
      "writable segments, rounded out to large pages: " + formatBytes(moved);
  if (!paging.known) {
    finding.severity = std::min(finding.severity, Severity::note);
    finding.title += ", unless the job pages .bss in on demand";
    finding.evidence += "; XOS_MMM_L_PAGING_POLICY is known only when the job "
                        "runs";
  }
  if (subject.target == Target::fugaku && paging.policy.bssPrepaged)
    return;
  finding.cost = "the job is killed, or the data stays on normal pages";
  finding.setFix("Start fewer processes on a node, or allocate the largest "
                 "arrays at run time.");
}

static void checkWaste(const Subject &subject, Findings &findings) {
  constexpr uint64_t wasteful = 8;
  uint64_t rounded = roundedOutBytes(subject.image.loads(), subject.hugeBytes);
  uint64_t held = writableBytes(subject.image.loads());
  if (held == 0 || rounded <= wasteful * held)
    return;
  Finding &finding = findings.add(
      FindingId::mpg142, formatBytes(rounded) + " of large pages would hold " +
                             formatBytes(held) + " of data");
  finding.where.bytes = held;
}

void mpg::checkStartupMemory(const Subject &subject, Findings &findings) {
  if (!subject.image.isProgram())
    return;
  if (findings.wants(FindingId::mpg140))
    checkPeak(subject, findings);
  if (findings.wants(FindingId::mpg142))
    checkWaste(subject, findings);
}
