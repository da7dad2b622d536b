// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG190: which OpenMP runtime a program or library needs; two are one too
// many.

#include "Audit/Checks.h"

using namespace llvm;
using namespace mpg;

namespace {

struct Runtime {
  StringRef prefix, name, variable;
};

} // namespace

/// LLVM's libomp and Intel's libiomp5 are one runtime under two names.
static constexpr Runtime runtimes[] = {
    {"libgomp.so", "GNU libgomp", "GOMP_CPU_AFFINITY"},
    {"libomp.so", "LLVM libomp", "KMP_AFFINITY"},
    {"libiomp5.so", "LLVM libomp", "KMP_AFFINITY"},
    {"libfjomp", "Fujitsu's OpenMP", "FLIB_CPU_AFFINITY"},
};

void mpg::checkOpenMp(const Subject &subject, Findings &findings) {
  Image &image = subject.image;
  if (!image.isLoadable())
    return;
  std::string libraries;
  const Runtime *first = nullptr, *second = nullptr;
  for (StringRef needed : image.dynamic().needed)
    for (const Runtime &runtime : runtimes) {
      if (!needed.starts_with(runtime.prefix))
        continue;
      libraries += (libraries.empty() ? "" : ", ") + needed.str();
      if (!first)
        first = &runtime;
      else if (runtime.name != first->name)
        second = &runtime;
    }
  if (second) {
    Finding &finding =
        findings.add(FindingId::mpg190, "two OpenMP runtimes: " + first->name +
                                            " and " + second->name);
    finding.sub = "two-runtimes";
    finding.evidence = libraries + " in DT_NEEDED";
  } else if (first) {
    Finding &finding =
        findings.add(FindingId::mpg190, "OpenMP runtime: " + first->name);
    finding.sub = "runtime";
    finding.severity = Severity::note;
    finding.evidence = libraries + " in DT_NEEDED";
    finding.cost = "threads that are not bound leave the data that they "
                   "touched first behind";
    finding.setFix(("Bind the threads: OMP_PROC_BIND=close and "
                    "OMP_PLACES=cores, or " +
                    first->variable + ".")
                       .str());
  }
}
