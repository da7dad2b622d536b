// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ParallelUses.h.

#include "openmp/ParallelUses.h"
#include "openmp/Allocations.h"
#include "openmp/SerialInit.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mpg;

/// Calls in a worksharing loop that are looked into.
static constexpr unsigned maxCallDepth = 2;
/// Call paths to a parallel region that are followed: those of elsewhere first.
static constexpr unsigned maxRegionPaths = 4;
/// Of a module: what is beyond is not looked at.
static constexpr size_t maxUses = 20000;

bool mpg::isPlaceable(const MemoryObject &object) {
  if (auto *call = dyn_cast<CallBase>(object.origin))
    return findAllocation(*call).has_value();
  auto *global = dyn_cast<GlobalVariable>(object.origin);
  if (!global || global->isConstant() || global->isThreadLocal() ||
      global->getAddressSpace() != 0 || !global->hasInitializer() ||
      !global->getInitializer()->isNullValue())
    return false;
  const DataLayout &layout = global->getParent()->getDataLayout();
  return int64_t(layout.getTypeAllocSize(global->getValueType())) >=
         minPlacedBytes;
}

// The shape of one access

namespace {
/// Finds out how an address moves.
class Motion {
public:
  Motion(Sampler &sampler, Value *pointer, const ParallelUse &use,
         unsigned seed)
      : sampler(sampler), pointer(pointer), use(use) {
    context.frame = use.frame;
    context.sharing = use.sharing;
    context.seed = seed;
    context.alternative = use.alternative;
    Sampler::Sample sample = sampler.getSample(pointer, context);
    base = sample.value;
    depends = sample.depends;
  }

  UseShape find(UseFigures &figures);
  void findIndex(ParallelUse &into);

private:
  int64_t address() { return sampler.evaluate(pointer, context); }
  int64_t offsetAt(int64_t iteration);
  int64_t offsetAt(const Loop &loop, int64_t turn);
  bool isEven(const UseFigures &figures);
  bool readsItsLength(const Loop &loop);
  std::optional<Dependence> choiceBy(const LoadInst &load,
                                     const CallFrame *frame);
  bool isCounter(PHINode &phi);
  void addIncoming(const PHINode &phi, const CallFrame *frame);
  int64_t reachNow(const Loop &loop, int64_t step);
  int64_t computeReach(const Loop &loop, int64_t step, int64_t iteration);
  void collectLoops();
  void addLoops(const Instruction &at, bool isInside);

  Sampler &sampler;
  Value *pointer;
  const ParallelUse &use;
  EvalContext context;
  int64_t base;
  Dependence depends; ///< of base: what it is not on does not move it
  SmallVector<const Loop *, 4> inner; ///< run within one iteration
  SmallVector<const Loop *, 4> outer; ///< run the worksharing loop again
  /// The terms of the address.
  struct Part {
    Value *value;
    const CallFrame *frame;
    bool isOneOf; ///< one of several that it may be
  };
  SmallVector<Part, 8> open;
  void addOperand(const Argument &parameter, const Part &part);
};
} // namespace

int64_t Motion::offsetAt(int64_t iteration) {
  if (!depends.isOn(Dependence::iteration))
    return 0;
  context.iteration = iteration;
  int64_t offset = distance(base, address());
  context.iteration = 0;
  return offset;
}

int64_t Motion::offsetAt(const Loop &loop, int64_t turn) {
  if (!depends.isOn(sampler.getBit(loop)))
    return 0;
  context.turns[&loop] = turn;
  int64_t offset = distance(base, address());
  context.turns.erase(&loop);
  return offset;
}

/// Iterations of the loop of \p use; 0 if the bound is not seen.
static int64_t countIterations(const ParallelUse &use, unsigned seed,
                               Sampler &sampler) {
  Value *last = use.sharing->last, *begin = use.sharing->begin;
  if (!last)
    return 0;
  // The bound was computed before the loop: outside of its iterations.
  EvalContext before;
  before.seed = seed;
  before.alternative = use.alternative;
  before.frame = findFrame(*use.sharing->init->getFunction(), use.frame);
  int64_t count = bounded(sampler.evaluate(last, before)) + 1;
  return begin ? count - bounded(sampler.evaluate(begin, before)) : count;
}

/// Whether all iterations are the same step apart; collapsed loops over a part
/// of each row may be a little off.
bool Motion::isEven(const UseFigures &figures) {
  int64_t count = figures.iterations > 1 ? figures.iterations : 1024;
  int64_t whole = times(figures.step, count - 1);
  int64_t slack = std::abs(whole) / 50;
  for (int64_t part : {1, 2, 3}) {
    int64_t iteration = count * part / 4;
    int64_t error = offsetAt(iteration) - times(figures.step, iteration);
    if (std::abs(error) > slack)
      return false;
  }
  return true;
}

/// Whether each iteration reads for itself how often \p loop runs. Such numbers
/// are made up, and change irregularly; a number that is computed from the
/// iteration's own changes evenly.
bool Motion::readsItsLength(const Loop &loop) {
  constexpr size_t probes = 6;
  int64_t first = context.iteration, turns[probes];
  for (int64_t &count : turns) {
    count = sampler.tripCount(loop, context).value_or(1);
    ++context.iteration;
  }
  context.iteration = first;
  for (size_t i = 2; i < probes; ++i)
    if (std::abs(turns[i] - 2 * turns[i - 1] + turns[i - 2]) > 1)
      return true;
  return false;
}

/// How far \p loop moves where the context says. A loop of a made-up length,
/// with steps shorter than \p step, that of the iterations, fills the
/// iteration's own part.
int64_t Motion::reachNow(const Loop &loop, int64_t step) {
  int64_t turns = sampler.tripCount(loop, context).value_or(1);
  if (turns <= 1)
    return 0;
  int64_t start = address();
  context.turns[&loop] = 1;
  int64_t next = distance(start, address());
  context.turns[&loop] = turns - 1;
  int64_t reach = distance(start, address());
  context.turns.erase(&loop);
  int64_t part = std::abs(step);
  if (std::abs(reach) > part && std::abs(next) < part && readsItsLength(loop))
    return std::clamp(reach, -part, part);
  return reach;
}

/// How far \p loop moves at the start of an iteration, or amid \p iteration and
/// the other loops within: a loop over a triangle is short at one of its ends.
int64_t Motion::computeReach(const Loop &loop, int64_t step,
                             int64_t iteration) {
  int64_t atStart = reachNow(loop, step);
  context.iteration = iteration;
  for (const Loop *around : reverse(inner))
    if (around != &loop)
      context.turns[around] = std::max<int64_t>(
          sampler.tripCount(*around, context).value_or(1) / 2, 0);
  int64_t amid = reachNow(loop, step);
  context.turns.clear();
  context.iteration = 0;
  return std::abs(amid) > std::abs(atStart) ? amid : atStart;
}

/// Loops around \p at, in its function; isInside: those of an iteration.
void Motion::addLoops(const Instruction &at, bool isInside) {
  Function &function = *const_cast<Function *>(at.getFunction());
  LoopInfo &loops = sampler.analyses.getResult<LoopAnalysis>(function);
  for (const Loop *loop = loops.getLoopFor(at.getParent()); loop;
       loop = loop->getParentLoop()) {
    if (is_contained(use.sharing->loops, loop))
      continue;
    bool isAround = loop->contains(use.sharing->init);
    (isInside && !isAround ? inner : outer).push_back(loop);
  }
}

/// From the access outwards: its function, those that called it within the
/// worksharing loop, and then those around the parallel region.
void Motion::collectLoops() {
  const Function *sharer = use.sharing->init->getFunction();
  addLoops(*use.at, true);
  bool isInside = use.at->getFunction() != sharer;
  for (const CallFrame *frame = use.frame; frame; frame = frame->outer) {
    addLoops(*frame->call, isInside);
    if (frame->call->getFunction() == sharer)
      isInside = false;
  }
}

/// Whether \p phi counts iterations: it may also keep what an iteration read
/// for the next one.
bool Motion::isCounter(PHINode &phi) {
  Function &function = *phi.getFunction();
  auto &evolution =
      sampler.analyses.getResult<ScalarEvolutionAnalysis>(function);
  return any_of(use.sharing->loops, [&](const Loop *loop) {
    return loop->getHeader() == phi.getParent() &&
           evolution.isSCEVable(phi.getType()) &&
           isa<SCEVAddRecExpr>(evolution.getSCEV(&phi));
  });
}

/// Where loops within the iteration start, and what several paths lead to.
void Motion::addIncoming(const PHINode &phi, const CallFrame *frame) {
  auto *own = find_if(inner, [&](const Loop *loop) {
    return loop->getHeader() == phi.getParent();
  });
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i)
    if (own == inner.end() || !(*own)->contains(phi.getIncomingBlock(i)))
      open.push_back({phi.getIncomingValue(i), frame, true});
}

void Motion::addOperand(const Argument &parameter, const Part &part) {
  const CallFrame *frame = findFrame(*parameter.getParent(), part.frame);
  if (Value *operand = frame ? frame->operandFor(parameter) : nullptr)
    open.push_back({operand, frame->outer, part.isOneOf});
}

/// The dependence of \p load's address, reached by \p frame; nothing if it
/// reads the same in another iteration.
std::optional<Dependence> Motion::choiceBy(const LoadInst &load,
                                           const CallFrame *frame) {
  Value *from = const_cast<Value *>(load.getPointerOperand());
  const CallFrame *own = std::exchange(context.frame, frame);
  Sampler::Sample first = sampler.getSample(from, context);
  context.iteration = 1;
  bool isOther = first.value != sampler.evaluate(from, context);
  context.iteration = 0;
  context.frame = own;
  return isOther ? std::optional(first.depends) : std::nullopt;
}

/// Whether the iteration selects its elements only through memory, such as an
/// index: then several iterations may select the same. Or whether it traverses
/// its own row, whose bounds are two numbers in memory.
void Motion::findIndex(ParallelUse &into) {
  open = {{pointer, context.frame, false}};
  SmallPtrSet<Value *, 16> seen;
  std::optional<Dependence> choice;
  bool isCounted = false;
  while (!open.empty() && seen.size() < 64) {
    Part part = open.pop_back_val();
    if (!seen.insert(part.value).second)
      continue;
    if (auto *parameter = dyn_cast<Argument>(part.value))
      addOperand(*parameter, part);
    auto *from = dyn_cast<Instruction>(part.value);
    if (!from || isa<CallBase>(from))
      continue;
    auto *load = dyn_cast<LoadInst>(from);
    auto *phi = dyn_cast<PHINode>(from);
    bool isCount = (phi && isCounter(*phi)) ||
                   (load && load->getPointerOperand() == use.sharing->lower);
    if (isCount && !part.isOneOf) {
      into.isGather = false;
      return;
    }
    isCounted |= isCount;
    if (phi && !isCount)
      addIncoming(*phi, part.frame);
    else if (!phi && !load)
      for (Value *operand : from->operands())
        open.push_back({operand, part.frame, part.isOneOf});
    if (!load || isCount)
      continue;
    if (std::optional<Dependence> one = choiceBy(*load, part.frame)) {
      into.isGather |= !part.isOneOf;
      one->on(choice.value_or(Dependence()));
      choice = one;
    }
  }
  into.isRow =
      choice && !isCounted && any_of(inner, [&](const Loop *loop) {
        Dependence bit = sampler.getBit(*loop);
        return depends.isOn(bit) && !choice->isOn(bit) && readsItsLength(*loop);
      });
  into.isGather &= !into.isRow;
}

UseShape Motion::find(UseFigures &figures) {
  collectLoops();
  figures.iterations = countIterations(use, context.seed, sampler);
  figures.first = sampler.getPlace(base).offset;
  // Not from the first iteration to the second: with collapsed loops of which
  // one goes over a part of a row only, the steps differ.
  int64_t count = figures.iterations > 1 ? figures.iterations : 1024;
  figures.step = offsetAt(count - 1) / (count - 1);
  if (!isEven(figures))
    return UseShape::irregular;
  int64_t low = 0, high = 0;
  for (const Loop *loop : inner) {
    if (!depends.isOn(sampler.getBit(*loop)))
      continue;
    int64_t reach = computeReach(*loop, figures.step, count / 2);
    int64_t &end = reach < 0 ? low : high;
    end = bounded(end + reach);
  }
  figures.extent = high - low;
  int64_t rowStep = 0;
  for (const Loop *loop : outer) {
    int64_t reach = offsetAt(*loop, 1);
    // Rows are consecutive; an arbitrary start is not a row.
    if (std::abs(offsetAt(*loop, 2) - 2 * reach) > std::abs(reach) / 50)
      return UseShape::irregular;
    if (reach)
      rowStep = rowStep ? std::min(rowStep, std::abs(reach)) : std::abs(reach);
  }
  figures.rowStep = rowStep;
  if (figures.step == 0)
    return UseShape::shared;
  int64_t step = std::abs(figures.step);
  // A stencil's iteration reaches into its neighbours' parts.
  if (figures.extent > 2 * step)
    return UseShape::scattered;
  if (rowStep)
    return rowStep >= times(step, count / 2) ? UseShape::rows
                                             : UseShape::irregular;
  return figures.step < 0 ? UseShape::backward : UseShape::parts;
}

// All accesses

static unsigned getWeight(unsigned depth) {
  unsigned weight = 1;
  for (unsigned i = 0; i < std::min(depth, 6u); ++i)
    weight *= 10;
  return weight;
}

void ParallelUses::addPart(const ParallelUse &use) {
  auto &max = partBytes[use.sharing];
  for (unsigned seed = 0; seed < sampleSets; ++seed)
    max[seed] = std::max(
        max[seed], times(use.figures[seed].step, use.figures[seed].iterations));
}

int64_t ParallelUses::bytesInParts(const WorksharingLoop &sharing,
                                   unsigned seed) const {
  return partBytes.lookup(&sharing)[seed];
}

/// The one number that \p figure gives for all samples, if there is one.
static std::optional<int64_t>
findConstant(ArrayRef<UseFigures> samples,
             function_ref<int64_t(const UseFigures &)> figure) {
  int64_t first = figure(samples.front());
  bool isConstant = all_of(samples, [&](const UseFigures &figures) {
    return figure(figures) == first;
  });
  return isConstant ? std::optional(first) : std::nullopt;
}

std::optional<int64_t> ParallelUse::constantStep() const {
  return findConstant(figures, [](const UseFigures &one) { return one.step; });
}

std::optional<int64_t> ParallelUse::constantRow() const {
  if (!figures[0].iterations)
    return std::nullopt;
  return findConstant(figures, [](const UseFigures &one) {
    return times(one.step, one.iterations);
  });
}

void ParallelUses::findShape(ParallelUse &use, Value *pointer) const {
  Motion motion(sampler, pointer, use, 0);
  use.shape = motion.find(use.figures[0]);
  for (unsigned seed = 1; seed < sampleSets; ++seed)
    if (use.shape != UseShape::irregular &&
        Motion(sampler, pointer, use, seed).find(use.figures[seed]) !=
            use.shape)
      use.shape = UseShape::irregular;
  use.isGather = use.isRow = false;
  if (use.shape == UseShape::irregular)
    motion.findIndex(use);
}

/// If all iterations read the same pointer first.
void ParallelUses::addMember(Instruction &at, Value *pointer, bool isWrite,
                             const ParallelUse &around) {
  auto *load = dyn_cast<LoadInst>(getUnderlyingObject(pointer));
  if (!load || !load->getType()->isPointerTy() || members.size() >= maxUses)
    return;
  EvalContext context;
  context.frame = around.frame;
  context.sharing = around.sharing;
  Sampler::Sample address =
      sampler.getSample(load->getPointerOperand(), context);
  Sampler::Place place = sampler.getPlace(address.value);
  if (!place.object || !address.depends.isFixed())
    return;
  members.push_back({around, pointer, load, place.object, place.offset});
  members.back().use.at = &at;
  members.back().use.isWrite = isWrite;
}

void ParallelUses::addAccess(Instruction &at, Value *pointer, bool isWrite,
                             const ParallelUse &around) {
  if (uses.size() >= maxUses)
    return;
  addMember(at, pointer, isWrite, around);
  EvalContext context;
  context.frame = around.frame;
  context.sharing = around.sharing;
  unsigned alternative = 0;
  for (const MemoryObject *object : sampler.findObjects(pointer, context)) {
    ParallelUse use = around;
    use.at = &at;
    use.isWrite = isWrite;
    use.object = object;
    use.alternative = alternative++;
    if (!isPlaceable(*object))
      continue;
    findShape(use, pointer);
    if (use.shape == UseShape::parts)
      addPart(use);
    uses.push_back(use);
  }
}

void ParallelUses::addInstruction(Instruction &at, const ParallelUse &around,
                                  unsigned depth) {
  if (auto *load = dyn_cast<LoadInst>(&at))
    return addAccess(at, load->getPointerOperand(), false, around);
  if (auto *store = dyn_cast<StoreInst>(&at))
    return addAccess(at, store->getPointerOperand(), true, around);
  if (auto *change = dyn_cast<AtomicRMWInst>(&at))
    return addAccess(at, change->getPointerOperand(), true, around);
  if (auto *whole = dyn_cast<MemIntrinsic>(&at)) {
    addAccess(at, whole->getRawDest(), true, around);
    if (auto *copy = dyn_cast<MemTransferInst>(whole))
      addAccess(at, copy->getRawSource(), false, around);
    return;
  }
  auto *call = dyn_cast<CallBase>(&at);
  Function *callee = call ? findCallee(*call) : nullptr;
  if (!callee || callee->isDeclaration() || depth == 0)
    return;
  ParallelUse inside = around;
  inside.frame = sampler.frames.enter(*call, *callee, around.frame);
  if (inside.frame)
    addCode(*callee, inside, depth - 1);
}

void ParallelUses::addCode(Function &function, const ParallelUse &around,
                           unsigned depth) {
  LoopInfo &loops = sampler.analyses.getResult<LoopAnalysis>(function);
  for (Instruction &at : instructions(function)) {
    ParallelUse use = around;
    use.weight *= getWeight(loops.getLoopDepth(at.getParent()));
    addInstruction(at, use, depth);
  }
}

const ParallelUses::Sharings &ParallelUses::getSharings(Function &function) {
  auto [entry, isNew] = known.try_emplace(&function);
  if (isNew)
    entry->second = findWorksharingLoops(
        function, sampler.analyses.getResult<LoopAnalysis>(function),
        sampler.analyses.getResult<DominatorTreeAnalysis>(function));
  return entry->second;
}

/// Whether the loop has one iteration whatever the program reads: one thread
/// does all of it.
bool ParallelUses::isOnce(const ParallelUse &use) {
  auto [entry, isNew] = once.insert({{use.sharing, use.frame}, false});
  if (isNew)
    entry->second = all_of(seq(sampleSets), [&](unsigned seed) {
      return countIterations(use, seed, sampler) == 1;
    });
  return entry->second;
}

/// Stores, and memory that is passed to unseen code.
void ParallelUses::addTeamWrite(Instruction &at, const CallFrame *path) {
  auto add = [&](Value *pointer) {
    if (teamWrites.size() < maxUses && !isa<Constant>(pointer) &&
        !isa<AllocaInst>(getUnderlyingObject(pointer)))
      teamWrites.push_back({&at, pointer, path});
  };
  if (auto *store = dyn_cast<StoreInst>(&at))
    return add(store->getPointerOperand());
  if (auto *change = dyn_cast<AtomicRMWInst>(&at))
    return add(change->getPointerOperand());
  if (auto *whole = dyn_cast<MemIntrinsic>(&at))
    return add(whole->getRawDest());
  auto *call = dyn_cast<CallBase>(&at);
  Function *callee = call ? findCallee(*call) : nullptr;
  if (!call || isa<IntrinsicInst>(call) || (callee && !callee->isDeclaration()))
    return;
  for (Value *operand : call->args())
    if (operand->getType()->isPointerTy())
      add(operand);
}

bool ParallelUses::isTo(const TeamWrite &write,
                        const MemoryObject &object) const {
  EvalContext context;
  context.frame = write.path;
  return any_of(sampler.findObjects(write.pointer, context),
                [&](const MemoryObject *written) {
                  return written && written->origin == object.origin;
                });
}

bool ParallelUses::isWrittenByTeams(const MemoryObject &object) const {
  return any_of(teamWrites,
                [&](const TeamWrite &write) { return isTo(write, object); });
}

bool ParallelUses::isWrittenByTeamsBefore(const MemoryObject &object,
                                          const Instruction &at,
                                          const CallFrame *frame) const {
  return any_of(teamWrites, [&](const TeamWrite &write) {
    return isa<StoreInst, MemIntrinsic>(write.at) &&
           findOrder(*write.at, write.path, at, frame, sampler.analyses) ==
               Order::always &&
           isTo(write, object);
  });
}

/// Code that all threads of a team run: worksharing loops may be in functions
/// that it calls.
void ParallelUses::addTeamCode(Function &function, const ParallelRegion &region,
                               const CallFrame *path, unsigned depth) {
  LoopInfo &loops = sampler.analyses.getResult<LoopAnalysis>(function);
  auto &dominators =
      sampler.analyses.getResult<DominatorTreeAnalysis>(function);
  const Sharings &sharings = getSharings(function);
  for (Instruction &at : instructions(function)) {
    if (auto *sharing = findWorksharingLoop(at, sharings, dominators)) {
      ParallelUse use;
      use.frame = path;
      use.region = &region;
      use.sharing = sharing;
      use.weight = getWeight(loops.getLoopDepth(at.getParent()));
      if (!isOnce(use))
        addInstruction(at, use, maxCallDepth);
      continue;
    }
    addTeamWrite(at, path);
    auto *call = dyn_cast<CallBase>(&at);
    Function *callee = call ? findCallee(*call) : nullptr;
    if (!callee || callee->isDeclaration() || depth == 0)
      continue;
    if (const CallFrame *inner = sampler.frames.enter(*call, *callee, path))
      addTeamCode(*callee, region, inner, depth - 1);
  }
}

ParallelUses::ParallelUses(ArrayRef<ParallelRegion> regions, Sampler &sampler)
    : sampler(sampler) {
  for (const ParallelRegion &region : regions) {
    unsigned paths = 0;
    for (const CallFrame *path : sampler.frames.callPathsTo(*region.body))
      if (path && path->call == region.fork && ++paths <= maxRegionPaths)
        addTeamCode(*region.body, region, path, maxCallDepth);
  }
}
