// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG141: a large .bss that is paged in at the start lies in the memory of one
// core memory group, and the threads of the others reach it the long way.

#include "Audit/Checks.h"
#include "Audit/Paging.h"
#include "Support/Format.h"

using namespace mpg;

void mpg::checkBssPaging(const Subject &subject, Findings &findings) {
  constexpr uint64_t largeBytes = uint64_t(64) << 20;
  constexpr unsigned groupCores = 12; // HW:a64fx-cmgs
  Image &image = subject.image;
  const Launch *launch = subject.launch();
  if (!image.isProgram() || image.machine() != Machine::aarch64 || !launch ||
      launch->threads.value_or(0) <= groupCores)
    return;
  std::optional<PagingPolicy> policy = pagingPolicy(launch);
  const Section *bss = image.findSection(".bss");
  if (!policy || !policy->bssPrepaged || !bss || bss->bytes < largeBytes)
    return;
  Finding &finding = findings.add(
      FindingId::mpg141, formatBytes(bss->bytes) +
                             " of .bss are paged in on one core memory group, "
                             "for " +
                             std::to_string(*launch->threads) + " threads");
  finding.where.section = ".bss";
  finding.where.bytes = bss->bytes;
  finding.where.symbol = "XOS_MMM_L_PAGING_POLICY";
  finding.evidence = "paging policy " + policy->text +
                     "; more than 12 threads are on more than one group";
}
