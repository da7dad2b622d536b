// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tags/HintNoteWriter.h"
#include "mpg/hints.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Constants.h"
#include "llvm/Support/Endian.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include <algorithm>
#include <string>

using namespace llvm;
using namespace mpg;

static constexpr StringLiteral noteVariable = "mpg.note";

mpg_note_hints mpg::emptyHintNote() {
  mpg_note_hints note = {};
  note.version = MPG_NOTE_HINTS_VERSION;
  note.llvmMajor = LLVM_VERSION_MAJOR;
  std::fill_n(note.waysL1, 4, MPG_WAYS_NOT_ASKED);
  std::fill_n(note.waysL2, 4, MPG_WAYS_NOT_ASKED);
  return note;
}

void mpg::countTag(mpg_note_hints &note, uint8_t tag) {
  note.tagBytes[tag / 32] |= 1u << tag % 32;
  note.sectorsMask |= 1u << (tag & MPG_TAG_SECTOR_MASK);
  if (tag & MPG_TAG_INJECTION) {
    note.injectionMask |= 1u << (tag >> 4 & 7);
    note.flags |= MPG_HINTS_EXTENDED_TAGS;
  }
  ++note.taggedAccesses;
}

/// The larger of two, where MPG_WAYS_NOT_ASKED is less than all.
static uint8_t largerWays(uint8_t a, uint8_t b) {
  if (a == MPG_WAYS_NOT_ASKED || b == MPG_WAYS_NOT_ASKED)
    return std::min(a, b);
  return std::max(a, b);
}

void mpg::countWays(mpg_note_hints &note, const Module &module) {
  for (const GlobalVariable &global : module.globals()) {
    if (!global.getName().starts_with("mpg.ways") || !global.hasInitializer())
      continue;
    auto *bytes = dyn_cast<ConstantDataSequential>(global.getInitializer());
    if (!bytes || bytes->getNumElements() != 6)
      continue;
    for (unsigned sector = 0; sector < 4; ++sector)
      note.waysL1[sector] =
          largerWays(note.waysL1[sector], bytes->getElementAsInteger(sector));
    for (unsigned sector = 0; sector < 2; ++sector)
      note.waysL2[sector] = largerWays(note.waysL2[sector],
                                       bytes->getElementAsInteger(4 + sector));
  }
}

static void append(std::string &bytes, uint32_t number) {
  char little[4];
  support::endian::write32le(little, number);
  bytes.append(little, sizeof(little));
}

void mpg::writeHintNote(Module &module, const mpg_note_hints &note) {
  // AArch64 Linux is little-endian, as is the machine that this runs on: the
  // struct's bytes are the note's.
  std::string bytes;
  append(bytes, sizeof(MPG_NOTE_NAME));
  append(bytes, sizeof(note));
  append(bytes, MPG_NOTE_TYPE_HINTS);
  bytes.append(MPG_NOTE_NAME, sizeof(MPG_NOTE_NAME));
  bytes.append(reinterpret_cast<const char *>(&note), sizeof(note));
  static_assert(sizeof(MPG_NOTE_NAME) % MPG_NOTE_ALIGN == 0 &&
                sizeof(note) % MPG_NOTE_ALIGN == 0);
  Constant *value = ConstantDataArray::getString(module.getContext(), bytes,
                                                 /*AddNull=*/false);
  auto *global =
      new GlobalVariable(module, value->getType(), /*isConstant=*/true,
                         GlobalValue::PrivateLinkage, value, noteVariable);
  global->setSection(MPG_NOTE_SECTION_HINTS);
  global->setAlignment(Align(MPG_NOTE_ALIGN));
  appendToCompilerUsed(module, {global});
}

bool mpg::eraseHintNote(Module &module) {
  GlobalVariable *note =
      module.getGlobalVariable(noteVariable, /*AllowInternal=*/true);
  if (!note)
    return false;
  removeFromUsedLists(module, [&](Constant *used) {
    return used->stripPointerCasts() == note;
  });
  note->eraseFromParent();
  return true;
}
