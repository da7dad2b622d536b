// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of a run's report about tags: what the program's note says that its
// code has, and what the site's command for the tag override answers.

#include "Elf/Image.h"
#include "Process/RunReport.h"
#include "Support/Format.h"
#include "llvm/ADT/StringExtras.h"
#include <cstdio>
#include <sys/wait.h>

using namespace llvm;
using namespace mpg;

std::string mpg::decodeCoreMask(StringRef mask) {
  if (!mask.consume_front("0x") && !mask.consume_front("0X"))
    return {};
  mask = mask.take_while([](char c) { return isHexDigit(c); });
  // Bit by bit from the end: masks of large machines exceed 64 bits.
  std::string text;
  unsigned cores = unsigned(mask.size()) * 4;
  auto has = [&](unsigned core) {
    unsigned digit = hexDigitValue(mask[mask.size() - 1 - core / 4]);
    return core < cores && (digit >> core % 4 & 1);
  };
  for (unsigned core = 0; core < cores; ++core) {
    if (!has(core))
      continue;
    unsigned last = core;
    while (last + 1 < cores && has(last + 1))
      ++last;
    text += (text.empty() ? "" : ",") + std::to_string(core);
    if (last > core)
      text += "-" + std::to_string(last);
    core = last;
  }
  return text;
}

std::string mpg::describeTagMessage(StringRef output) {
  bool on = output.contains("FHE 1113");
  if (!on && !output.contains("FHE 1114"))
    return {};
  std::string text =
      std::string("the HPC tag override is ") + (on ? "on" : "off");
  size_t at = output.find("0x");
  std::string cores =
      at == StringRef::npos ? "" : decodeCoreMask(output.substr(at));
  return cores.empty() ? text : text + " on cores " + cores;
}

Expected<std::string> mpg::switchTags(const std::string &command, bool on) {
  auto fail = [&](const Twine &why) {
    return createStringError(inconvertibleErrorCode(),
                             printable(command) + " " + why);
  };
  // The path has no character that the shell would see; the caller made it.
  std::string line = "'" + command + "' " + (on ? "enable" : "disable");
  FILE *pipe = popen((line + " 2>&1").c_str(), "r");
  if (!pipe)
    return fail("cannot be started");
  std::string output;
  char buffer[512];
  while (size_t count = fread(buffer, 1, sizeof(buffer), pipe))
    output.append(buffer, count);
  int status = pclose(pipe);
  if (status != 0)
    return fail("failed: " + printable(StringRef(output).trim()) + " (status " +
                std::to_string(WEXITSTATUS(status)) + ")");
  std::string text = describeTagMessage(output);
  return text.empty() ? printable(StringRef(output).trim()) : text;
}

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
