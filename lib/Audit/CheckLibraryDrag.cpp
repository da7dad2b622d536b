// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG120: a library that needs the large page library brings it into every
// program that loads it, system tools included.

#include "Audit/Checks.h"

using namespace llvm;
using namespace mpg;

static void checkLibrary(Image &image, Findings &findings) {
  for (StringRef name : image.dynamic().needed) {
    if (!isLibmpgName(name))
      continue;
    Finding &finding = findings.add(FindingId::mpg120,
                                    "the library brings " + name +
                                        " into every program that loads it");
    finding.evidence = (name + " is in DT_NEEDED").str();
    return;
  }
}

/// A PIE that did not ask for the library: usually a tool that loads a library
/// of the compiler's, because LD_LIBRARY_PATH names it first.
static void checkProgram(const Subject &subject, Findings &findings) {
  const LoadedLibrary *libmpg =
      subject.closure ? subject.closure->findLibmpg() : nullptr;
  if (!libmpg || libmpg->entry->askedBy < 0 ||
      subject.image.kind() != ElfKind::pie)
    return;
  const LoadedLibrary &bringer =
      subject.closure->libraries[unsigned(libmpg->entry->askedBy)];
  Finding &finding =
      findings.add(FindingId::mpg120, bringer.name + " brings " + libmpg->name +
                                          " into this program, which is a PIE");
  finding.sub = "program";
  finding.evidence = bringer.name.str() + " is " + bringer.entry->path;
  subject.closure->setVia(finding, *libmpg);
  finding.setFix("If this is a tool of the system, let it load the system's "
                 "own libraries: put /lib64 first in LD_LIBRARY_PATH. "
                 "Otherwise link " +
                 bringer.name.str() +
                 " without the large page library (fcc: -Knolargepage), and "
                 "link the program with it.");
}

void mpg::checkLibraryDrag(const Subject &subject, Findings &findings) {
  if (subject.image.kind() == ElfKind::library)
    checkLibrary(subject.image, findings);
  else
    checkProgram(subject, findings);
}
