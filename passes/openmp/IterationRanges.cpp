// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See IterationRanges.h.

#include "openmp/IterationRanges.h"
#include "base/Access.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace llvm;
using namespace mpg;

/// No machine has an array of this size; numbers below it times the number of
/// threads fit 64 bits.
static constexpr uint64_t maxRangeBytes = uint64_t(1) << 48;
static constexpr unsigned maxWindows = 12;
static constexpr char overlap[] = "one iteration uses what another one writes";

namespace {
/// The memory of some accesses in one iteration: [start + low, start + high) in
/// the first, \p step bytes further in each later one.
struct Window {
  Value *base;       ///< the pointer that start is computed from
  const SCEV *start; ///< null: anywhere around base
  const SCEV *step;
  const SCEV *low, *high;
  bool isWritten;
};

class RangeFinder {
public:
  RangeFinder(Loop &loop, ScalarEvolution &evolution, AAResults &aliases,
              SmallVectorImpl<RangeCheck> &checks)
      : loop(loop), evolution(evolution), aliases(aliases), checks(checks),
        wide(IntegerType::get(loop.getHeader()->getContext(), 128)),
        steps(toWide(evolution.getBackedgeTakenCount(&loop))) {}
  std::string run(uint64_t minBytes);

private:
  const SCEV *toWide(const SCEV *count) const {
    return evolution.getZeroExtendExpr(count, wide);
  }
  const SCEV *constant(int64_t value) const {
    return evolution.getConstant(wide, static_cast<uint64_t>(value), true);
  }
  const SCEV *zero() const { return constant(0); }
  bool require(const SCEV *left, const SCEV *right);
  bool limit(const SCEV *bytes) {
    return require(bytes, constant(maxRangeBytes));
  }
  bool moves(const SCEV *step, const SCEV *count, const SCEV *&below,
             const SCEV *&above);
  std::string addInstruction(Instruction &instruction);
  std::string addAccess(Value *pointer, const SCEV *bytes, bool isWrite);
  bool locate(const SCEV *address, Window &window);
  void join(const Window &window);
  const SCEV *widthOfStep(const Window &window) const;
  const SCEV *edge(const Window &window, bool isHigh);
  std::string separate(const Window &first, const Window &second);
  std::string checkWindow(const Window &window);

  Loop &loop;
  ScalarEvolution &evolution;
  AAResults &aliases;
  SmallVectorImpl<RangeCheck> &checks;
  Type *wide;
  const SCEV *steps; ///< iterations of the loop, less one
  SmallVector<Window, 8> windows;
};
} // namespace

/// Returns false if \p left <= \p right is known to be false.
bool RangeFinder::require(const SCEV *left, const SCEV *right) {
  if (evolution.isKnownPredicate(ICmpInst::ICMP_SLE, left, right))
    return true;
  if (evolution.isKnownPredicate(ICmpInst::ICMP_SGT, left, right))
    return false;
  auto isSame = [&](const RangeCheck &check) {
    return check.left == left && check.right == right && !check.otherLeft;
  };
  if (none_of(checks, isSame))
    checks.push_back({left, right});
  return true;
}

/// Adds to \p below and \p above how far an address moves by \p count times
/// \p step. Returns false if that is too far.
bool RangeFinder::moves(const SCEV *step, const SCEV *count, const SCEV *&below,
                        const SCEV *&above) {
  const SCEV *up = evolution.getSignExtendExpr(step, wide);
  const SCEV *down = evolution.getNegativeSCEV(up);
  // Each product fits before it is part of a sum.
  if (!evolution.isKnownNonPositive(step)) {
    const SCEV *bytes =
        evolution.getMulExpr(evolution.getSMaxExpr(up, zero()), count);
    above = evolution.getAddExpr(above, bytes);
    if (!limit(bytes))
      return false;
  }
  if (!evolution.isKnownNonNegative(step)) {
    const SCEV *bytes =
        evolution.getMulExpr(evolution.getSMaxExpr(down, zero()), count);
    below = evolution.getAddExpr(below, bytes);
    if (!limit(bytes))
      return false;
  }
  return true;
}

/// Sets where \p address goes; low and high hold what inner loops add.
/// Returns false if it is not an affine function of the counters.
bool RangeFinder::locate(const SCEV *address, Window &window) {
  const SCEV *below = zero(), *above = zero();
  window.step =
      evolution.getZero(evolution.getEffectiveSCEVType(address->getType()));
  while (auto *moving = dyn_cast<SCEVAddRecExpr>(address)) {
    const Loop *counter = moving->getLoop();
    if (!loop.contains(counter))
      break; // moves with a loop around this one
    const SCEV *step = moving->getStepRecurrence(evolution);
    if (!moving->isAffine() || !evolution.isLoopInvariant(step, &loop))
      return false;
    address = moving->getStart();
    if (counter == &loop) {
      window.step = step;
      continue;
    }
    const SCEV *count = evolution.getBackedgeTakenCount(counter);
    if (isa<SCEVCouldNotCompute>(count) ||
        !evolution.isLoopInvariant(count, &loop) ||
        !moves(step, toWide(count), below, above))
      return false;
  }
  auto *base = dyn_cast<SCEVUnknown>(evolution.getPointerBase(address));
  if (!base || !evolution.isLoopInvariant(address, &loop))
    return false;
  window.base = base->getValue();
  window.start = address;
  window.low = evolution.getNegativeSCEV(below);
  window.high = above;
  return true;
}

/// Makes \p window part of one with the same start and step, or a new one.
void RangeFinder::join(const Window &window) {
  for (Window &known : windows) {
    if (known.base != window.base || !known.start || known.step != window.step)
      continue;
    std::optional<APInt> distance =
        evolution.computeConstantDifference(window.start, known.start);
    if (!distance)
      continue;
    const SCEV *offset = evolution.getConstant(distance->sext(128));
    known.low = evolution.getSMinExpr(known.low,
                                      evolution.getAddExpr(window.low, offset));
    known.high = evolution.getSMaxExpr(
        known.high, evolution.getAddExpr(window.high, offset));
    known.isWritten |= window.isWritten;
    return;
  }
  windows.push_back(window);
}

std::string RangeFinder::addAccess(Value *pointer, const SCEV *bytes,
                                   bool isWrite) {
  if (pointer->getType()->getPointerAddressSpace() != 0)
    return "it uses another address space";
  if (!isWrite && !isModSet(aliases.getModRefInfoMask(
                      MemoryLocation::getBeforeOrAfter(pointer))))
    return ""; // cannot be written
  Window window = {};
  window.isWritten = isWrite;
  const SCEV *address = evolution.getSCEV(pointer);
  if (evolution.isLoopInvariant(bytes, &loop) && locate(address, window)) {
    if (!limit(bytes))
      return "it is too large";
    window.high = evolution.getAddExpr(window.high, bytes);
    join(window);
    return "";
  }
  if (isWrite)
    return "it stores to places that are not at a fixed distance from one "
           "iteration to the next";
  window.base = pointer;
  window.start = nullptr;
  windows.push_back(window);
  return "";
}

std::string RangeFinder::addInstruction(Instruction &instruction) {
  const DataLayout &layout = instruction.getModule()->getDataLayout();
  if (auto *memory = dyn_cast<AnyMemIntrinsic>(&instruction)) {
    const SCEV *bytes = toWide(evolution.getSCEV(memory->getLength()));
    std::string reason = addAccess(memory->getRawDest(), bytes, true);
    auto *copy = dyn_cast<AnyMemTransferInst>(memory);
    if (copy && reason.empty())
      reason = addAccess(copy->getRawSource(), bytes, false);
    return reason;
  }
  Value *pointer = getLoadStorePointerOperand(&instruction);
  if (!pointer)
    return "";
  TypeSize bytes = layout.getTypeStoreSize(getLoadStoreType(&instruction));
  if (bytes.isScalable())
    return "it uses vectors of unknown length";
  return addAccess(pointer, constant(bytes.getFixedValue()),
                   isa<StoreInst>(instruction));
}

/// |step|.
const SCEV *RangeFinder::widthOfStep(const Window &window) const {
  return evolution.getAbsExpr(evolution.getSignExtendExpr(window.step, wide),
                              /*IsNSW=*/true);
}

/// The first byte of \p window in any iteration, or one after the last.
const SCEV *RangeFinder::edge(const Window &window, bool isHigh) {
  const SCEV *below = zero(), *above = zero();
  if (!moves(window.step, steps, below, above))
    return nullptr;
  // Signed: if the first iterations do not use it, start may be negative (if (i
  // >= k) a[i - k] = 0).
  const SCEV *start = evolution.getSignExtendExpr(
      evolution.getPtrToIntExpr(window.start, evolution.getEffectiveSCEVType(
                                                  window.start->getType())),
      wide);
  return isHigh ? evolution.getAddExpr(start, window.high, above)
                : evolution.getMinusSCEV(
                      evolution.getAddExpr(start, window.low), below);
}

std::string RangeFinder::separate(const Window &first, const Window &second) {
  if (!first.isWritten && !second.isWritten)
    return "";
  if (first.base != second.base &&
      aliases.isNoAlias(MemoryLocation::getBeforeOrAfter(first.base),
                        MemoryLocation::getBeforeOrAfter(second.base)))
    return "";
  if (!first.start || !second.start)
    return "it reads, at places only known at run time, memory that it may "
           "also write";
  if (first.base == second.base && first.step != second.step)
    return "it uses one array at two different distances from one iteration to "
           "the next";
  const SCEV *lowFirst = edge(first, false), *highFirst = edge(first, true),
             *lowSecond = edge(second, false), *highSecond = edge(second, true);
  if (!lowFirst || !highFirst || !lowSecond || !highSecond)
    return "it is too large";
  auto isKnown = [&](ICmpInst::Predicate predicate, const SCEV *high,
                     const SCEV *low) {
    return evolution.isKnownPredicate(predicate, high, low);
  };
  if (isKnown(ICmpInst::ICMP_SLE, highFirst, lowSecond) ||
      isKnown(ICmpInst::ICMP_SLE, highSecond, lowFirst))
    return "";
  if (isKnown(ICmpInst::ICMP_SGT, highFirst, lowSecond) &&
      isKnown(ICmpInst::ICMP_SGT, highSecond, lowFirst))
    return overlap;
  checks.push_back({highFirst, lowSecond, highSecond, lowFirst});
  return "";
}

/// Whether \p window stays clear of itself.
std::string RangeFinder::checkWindow(const Window &window) {
  if (!window.isWritten)
    return "";
  const SCEV *below = zero(), *above = zero();
  if (!moves(window.step, steps, below, above))
    return "it is too large";
  if (!require(evolution.getMinusSCEV(window.high, window.low),
               widthOfStep(window)))
    return overlap;
  return "";
}

std::string RangeFinder::run(uint64_t minBytes) {
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block)
      if (std::string reason = addInstruction(instruction); !reason.empty())
        return reason;
  if (windows.size() > maxWindows)
    return "it uses too many arrays";
  const SCEV *widest = zero();
  for (const Window &window : windows) {
    if (std::string reason = checkWindow(window); !reason.empty())
      return reason;
    if (window.isWritten)
      widest = evolution.getSMaxExpr(widest, widthOfStep(window));
    for (const Window &other :
         ArrayRef(windows).take_front(&window - windows.data()))
      if (std::string reason = separate(other, window); !reason.empty())
        return reason;
  }
  const SCEV *bytes =
      evolution.getMulExpr(widest, evolution.getAddExpr(steps, constant(1)));
  if (!require(constant(minBytes), bytes))
    return "it writes less than 4 MiB";
  return "";
}

std::string mpg::findRangeChecks(Loop &loop, ScalarEvolution &evolution,
                                 AAResults &aliases, uint64_t minBytes,
                                 SmallVectorImpl<RangeCheck> &checks) {
  for (Loop *inner : loop.getLoopsInPreorder()) {
    const SCEV *count = evolution.getBackedgeTakenCount(inner);
    if (isa<SCEVCouldNotCompute>(count) ||
        evolution.getTypeSizeInBits(count->getType()) > 64)
      return inner == &loop ? "its number of iterations is unknown before it"
                            : "the number of iterations of a loop in it is "
                              "unknown before it";
  }
  return RangeFinder(loop, evolution, aliases, checks).run(minBytes);
}
