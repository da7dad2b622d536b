// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HintReport.h.

#include "Process/HintReport.h"
#include "Elf/ImageNotes.h"

using namespace llvm;
using namespace mpg;

static Ability worse(Ability a, Ability b) {
  if (a == Ability::no || b == Ability::no)
    return Ability::no;
  return a == Ability::unknown ? a : b;
}

Ability HintReport::acts() const {
  if (!notes.hints || notes.hints->taggedAccesses == 0)
    return Ability::no;
  const mpg_note_hints &hints = *notes.hints;
  bool usesSectors = (hints.sectorsMask & ~1u) != 0;
  Ability acts = usesSectors ? support.sector : Ability::yes;
  if (hints.injectionMask)
    acts = worse(acts, support.injection);
  // Without sectors and entries all that is left are prefetch switches.
  return worse(acts, support.prefetch);
}

std::optional<HintReport> mpg::readHintReport(const std::string &program) {
  std::optional<HintReport> report;
  Error error = readImages(program, [&](Image &image) {
    if (!image.isProgram())
      return;
    Notes notes = readOwnNotes(image);
    if (!notes.hints && notes.unreadHints.empty())
      return;
    report.emplace();
    report->notes = std::move(notes);
  });
  consumeError(std::move(error)); // the run itself has told what is wrong
  if (!report)
    return report;
  SysTree tree("/");
  NodeMachine machine = readMachine(tree, readNumaFacts(tree));
  RegisterReach reach;
  if (machine.a64fx != A64fxKind::no)
    reach = probeRegisters();
  report->support = judgeTags(machine, reach);
  return report;
}
