// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TagWriter.h.

#include "tags/TagWriter.h"
#include "base/Access.h"
#include "base/Diagnostics.h"
#include "base/Hint.h"
#include "base/PassOptions.h"
#include "mpg/hints.h"
#include "mpg/note.h"
#include "tags/AddressTagger.h"
#include "tags/TagForm.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/Endian.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include <algorithm>
#include <string>

using namespace llvm;
using namespace mpg;

static constexpr StringLiteral noteVariable = "mpg.note";

/// A note without any uses.
static mpg_note_hints emptyHintNote() {
  mpg_note_hints note = {};
  note.version = MPG_NOTE_HINTS_VERSION;
  note.llvmMajor = LLVM_VERSION_MAJOR;
  std::fill_n(note.waysL1, 4, MPG_WAYS_NOT_ASKED);
  std::fill_n(note.waysL2, 4, MPG_WAYS_NOT_ASKED);
  return note;
}

/// Adds one access with \p tag to \p note.
static void countTag(mpg_note_hints &note, uint8_t tag) {
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

/// Adds ways that were asked for with MPG_WAYS or a pragma; of several the
/// larger one counts.
static void countWays(mpg_note_hints &note, const Module &module) {
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

/// Puts \p note into \p module.
static void writeHintNote(Module &module, const mpg_note_hints &note) {
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

#define DEBUG_TYPE "mpg"

STATISTIC(numTagged, "Number of accesses with a tag");
STATISTIC(numBases, "Number of instructions that put a tag on");
STATISTIC(numSkipped, "Number of marked accesses without a tag");

namespace {
class FunctionTagger {
public:
  FunctionTagger(Function &function, const PassOptions &options,
                 mpg_note_hints &note, RemarkPlaces &said,
                 FunctionAnalysisManager &analyses)
      : function(function), options(options), note(note), said(said),
        analyses(analyses), emitter(&function),
        tagger(analyses.getResult<DominatorTreeAnalysis>(function),
               analyses.getResult<LoopAnalysis>(function), options.formGep) {}
  void run(ArrayRef<Instruction *> marked);

private:
  const char *plan(Instruction &access);
  void skip(Instruction &access, const char *reason);
  void keepAliases();
  bool verify(ArrayRef<Instruction *> tags);
  void remark();

  struct Tagged {
    Instruction *access;
    uint8_t tag;
  };
  Function &function;
  const PassOptions &options;
  mpg_note_hints &note;
  RemarkPlaces &said;
  FunctionAnalysisManager &analyses;
  OptimizationRemarkEmitter emitter;
  AddressTagger tagger;
  SmallVector<Tagged, 16> tagged;
};
} // namespace

/// A tag with the same effect on \p access as \p tag that needs one instruction
/// less, if there is a choice: constants with one run of bits fit into an ORR.
/// Loads and stores ignore "weak", prefetches everything else. HW:pf-func
static uint8_t cheapestTag(uint8_t tag, const Instruction &access) {
  if (tag != (MPG_TAG_NO_L1_HWPF | MPG_TAG_WEAK_SWPF))
    return tag;
  return isPrefetch(access) ? MPG_TAG_WEAK_SWPF : MPG_TAG_NO_L1_HWPF;
}

void FunctionTagger::skip(Instruction &access, const char *reason) {
  ++numSkipped;
  DebugLoc location = userLocation(access.getDebugLoc());
  if (!said.isNew("TagSkipped", location, *access.getParent(), reason))
    return;
  emitter.emit([&] {
    return OptimizationRemarkMissed(remarkPass, "TagSkipped", location,
                                    access.getParent())
           << "the hint is not applied here: " << ore::NV("Reason", reason);
  });
}

/// Plans a tag for \p access; returns why not, or nullptr.
const char *FunctionTagger::plan(Instruction &access) {
  Mark mark = readMark(access);
  if (mark.kind == Mark::conflict)
    return "accesses with different hints were merged into one";
  Use *address = taggableAddress(access);
  if (!address)
    return "it became an access of another kind";
  if (!shouldTag())
    return "the debug counter mpg-tag says so";
  uint8_t tag = cheapestTag(mark.tag, access);
  if (const char *reason = tagger.plan(*address, tag))
    return reason;
  tagged.push_back({&access, tag});
  return nullptr;
}

/// Writes down what alias analysis knows, which tags will hide from it.
void FunctionTagger::keepAliases() {
  SmallVector<Instruction *, 16> accesses;
  for (const Tagged &one : tagged)
    accesses.push_back(one.access);
  writeObjectScopes(function, accesses, analyses.getResult<AAManager>(function),
                    analyses.getResult<LoopAnalysis>(function));
}

/// Takes tags off again that would get anywhere else. Returns false if there
/// were any; then none of the function's tags is kept.
bool FunctionTagger::verify(ArrayRef<Instruction *> tags) {
  const Instruction *wrong = nullptr;
  for (const Instruction *tag : tags)
    if ((wrong = findEscape(*tag)))
      break;
  if (!wrong)
    return true;
  emitter.emit([&] {
    return OptimizationRemarkMissed(remarkPass, "VerifierRejected",
                                    userLocation(wrong->getDebugLoc()),
                                    wrong->getParent())
           << "no hint is applied in "
           << ore::NV("Function", function.getName())
           << ": a tagged pointer would be used by something else than an "
              "access; please report this";
  });
  for (Instruction *tag : tags)
    if (std::optional<TaggedPointer> tagged = readTagged(*tag))
      dropTag(*tagged);
    else
      tag->replaceAllUsesWith(tag->getOperand(0)); // a GEP
  return false;
}

void FunctionTagger::remark() {
  for (const Tagged &one : tagged) {
    DebugLoc location = userLocation(one.access->getDebugLoc());
    std::string tag = describeTag(one.tag);
    if (!said.isNew("TagInserted", location, *one.access->getParent(), tag))
      continue;
    emitter.emit([&] {
      return OptimizationRemark(remarkPass, "TagInserted", location,
                                one.access->getParent())
             << "tag " << ore::NV("Tag", tag);
    });
  }
}

void FunctionTagger::run(ArrayRef<Instruction *> marked) {
  const char *reason = whyUntagged(function);
  for (Instruction *access : marked)
    if (const char *why = reason ? reason : plan(*access))
      skip(*access, why);
  for (Instruction *access : marked)
    eraseMark(*access);
  if (tagged.empty())
    return;
  if (!options.placeEarly)
    keepAliases();
  SmallVector<Instruction *, 8> tags = tagger.write();
  if (!verify(tags))
    return;
  if (options.verify && verifyFunction(function, &errs()))
    report_fatal_error("mpgtools' passes made code that is not valid in " +
                       Twine(function.getName()) + "; please report this");
  numTagged += tagged.size();
  numBases += tags.size();
  for (const Tagged &one : tagged)
    countTag(note, one.tag);
  remark();
}

static SmallVector<Instruction *, 16> markedIn(Function &function) {
  SmallVector<Instruction *, 16> marked;
  for (Instruction &instruction : instructions(function))
    if (instruction.hasMetadataOtherThanDebugLoc() &&
        readMark(instruction).kind != Mark::none)
      marked.push_back(&instruction);
  return marked;
}

/// Whether a link with LTO will optimise \p module again. LLVM 19 runs the same
/// passes there, and nothing distinguishes the two: code for ThinLTO stays
/// without tags, full LTO has a separate last stage.
static bool isForLto(const Module &module) {
  return module.getModuleFlag("EnableSplitLTOUnit");
}

static bool isForThinLto(const Module &module) {
  auto *flag =
      mdconst::extract_or_null<ConstantInt>(module.getModuleFlag("ThinLTO"));
  return isForLto(module) && !(flag && flag->isZero());
}

bool mpg::isLastStage(const Module &module, Stage stage) {
  return stage == Stage::last || (stage == Stage::unknown && !isForLto(module));
}

PreservedAnalyses TagWriterPass::run(Module &module,
                                     ModuleAnalysisManager &analyses) {
  if (!targetHasTags(module))
    return PreservedAnalyses::all();
  PreservedAnalyses preserved = writeTags(module, analyses);
  // Debug information that was only there for the names of variables. Here and
  // not at the start, for the remarks; not in a link, where it is others'.
  PassOptions options = loadPassOptions(module);
  if (options.stripDebug) {
    StripDebugInfo(module);
    options.stripDebug = false;
    storePassOptions(module, options);
    return PreservedAnalyses::none();
  }
  return preserved;
}

PreservedAnalyses TagWriterPass::writeTags(Module &module,
                                           ModuleAnalysisManager &analyses) {
  mpg_note_hints note = emptyHintNote();
  countWays(note, module);
  bool hasWays = note.waysL1[0] != MPG_WAYS_NOT_ASKED ||
                 note.waysL2[0] != MPG_WAYS_NOT_ASKED;
  if (!hasMarks(module) && !hasWays)
    return PreservedAnalyses::all();
  PassOptions options = loadPassOptions(module);
  if (stage == Stage::unknown && isForThinLto(module))
    remarkUntagged(module, "LLVM 19 cannot do it with ThinLTO; use -flto=full "
                           "or LLVM 22");
  if (!isLastStage(module, stage) && !options.placeEarly)
    return PreservedAnalyses::all();
  auto &functions =
      analyses.getResult<FunctionAnalysisManagerModuleProxy>(module)
          .getManager();
  RemarkPlaces said;
  for (Function &function : module) {
    restoreMarks(function);
    SmallVector<Instruction *, 16> marked = markedIn(function);
    if (!marked.empty())
      FunctionTagger(function, options, note, said, functions).run(marked);
  }
  if (note.taggedAccesses || hasWays)
    writeHintNote(module, note);
  return PreservedAnalyses::none();
}

PreservedAnalyses EarlyTagWriterPass::run(Function &function,
                                          FunctionAnalysisManager &analyses) {
  Module &module = *function.getParent();
  if (!hasMarks(module))
    return PreservedAnalyses::all();
  PassOptions options = loadPassOptions(module);
  if (!options.placeEarly)
    return PreservedAnalyses::all();
  SmallVector<Instruction *, 16> marked = markedIn(function);
  if (marked.empty())
    return PreservedAnalyses::all();
  mpg_note_hints note = emptyHintNote();
  RemarkPlaces said;
  FunctionTagger(function, options, note, said, analyses).run(marked);
  return PreservedAnalyses::none();
}
