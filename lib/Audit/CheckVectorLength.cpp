// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG180: SVE code compiled for one vector length, as the compiler's record of
// its command line says.

#include "Audit/Checks.h"

using namespace llvm;
using namespace mpg;

/// The N of every -msve-vector-bits=N in the record, each once. "scalable" and
/// "N+" leave the length open.
static std::vector<unsigned> fixedLengths(StringRef record) {
  constexpr StringRef option = "-msve-vector-bits=";
  std::vector<unsigned> lengths;
  for (size_t at = record.find(option); at != StringRef::npos;
       at = record.find(option, at + 1)) {
    StringRef value = record.substr(at + option.size());
    unsigned bits = 0;
    if (value.consumeInteger(10, bits) || value.starts_with("+"))
      continue;
    if (!is_contained(lengths, bits))
      lengths.push_back(bits);
  }
  return lengths;
}

void mpg::checkVectorLength(const Subject &subject, Findings &findings) {
  constexpr unsigned a64fxBits = 512; // HW:a64fx-sve-bits
  Image &image = subject.image;
  if (image.machine() != Machine::aarch64)
    return;
  const Section *record = image.findSection(".GCC.command.line");
  if (!record)
    return;
  for (unsigned bits : fixedLengths(image.sectionData(*record, 16 << 20))) {
    Finding &finding = findings.add(
        FindingId::mpg180, "code is compiled for SVE vectors of exactly " +
                               std::to_string(bits) + " bits");
    finding.where.section = ".GCC.command.line";
    finding.evidence = "-msve-vector-bits=" + std::to_string(bits);
    if (bits == a64fxBits)
      finding.severity = Severity::note;
  }
}
