// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG120: a library that needs the large page library brings it into every
// program that loads it, system tools included.

#include "Audit/Checks.h"

using namespace llvm;
using namespace mpg;

void mpg::checkLibraryDrag(const Subject &subject, Findings &findings) {
  Image &image = subject.image;
  if (image.kind() != ElfKind::library)
    return;
  for (StringRef name : image.dynamic().needed) {
    if (!name.starts_with("libmpg.so") && !name.starts_with("libmpgrt.so"))
      continue;
    Finding &finding = findings.add(FindingId::mpg120,
                                    "the library brings " + name +
                                        " into every program that loads it");
    finding.evidence = (name + " is in DT_NEEDED").str();
    return;
  }
}
