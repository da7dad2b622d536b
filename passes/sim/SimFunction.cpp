// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sim/SimFunction.h"
#include "base/Scev.h"
#include "openmp/Allocations.h"
#include "sim/SimRecords.h"
#include "zfill/Zfill.h"
#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include <vector>

using namespace llvm;
using namespace mpg;

/// Of one vector register; larger accesses are several.
static constexpr uint64_t largestAccess = 64;
/// Of 128 bits, the unit of scalable vectors: as A64FX has them.
static constexpr uint64_t scalableUnits = 4;

static bool isStore(const Instruction &instruction) {
  return !isa<LoadInst>(instruction) && !simPrefetchLevel(instruction);
}

static Type *getType(const Instruction &instruction) {
  if (auto *store = dyn_cast<StoreInst>(&instruction))
    return store->getValueOperand()->getType();
  if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    return exchange->getNewValOperand()->getType();
  if (zeroedAddress(instruction) || simPrefetchLevel(instruction))
    return Type::getInt8Ty(instruction.getContext());
  return instruction.getType();
}

/// How \p type is accessed: offsets and sizes.
SmallVector<SimFunction::Piece, 2> SimFunction::splitType(Type *type) const {
  TypeSize size = layout.getTypeStoreSize(type);
  uint64_t bytes =
      size.getKnownMinValue() * (size.isScalable() ? scalableUnits : 1);
  SmallVector<Piece, 2> pieces;
  for (uint64_t offset = 0; offset < bytes; offset += largestAccess)
    pieces.push_back({offset, std::min(bytes - offset, largestAccess)});
  return pieces;
}

unsigned SimFunction::getPlace(const Instruction &instruction,
                               const Value &address, bool store,
                               uint64_t bytes) {
  return table.addAccess(instruction, address,
                         loops.getLoopFor(instruction.getParent()), store,
                         bytes);
}

void SimFunction::writeBefore(Instruction &place) {
  writeSimRecords(bundleUp(records, table, scev, checks), place,
                  *table.firstPlace());
  records.clear();
}

static Value *moved(Value *address, uint64_t offset, Instruction &before) {
  if (!offset)
    return address;
  IRBuilder<> builder(&before);
  if (!address->getType()->isPointerTy())
    return builder.CreateAdd(address, builder.getInt64(offset));
  return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), address,
                                            offset);
}

void SimFunction::addAccess(Instruction &instruction) {
  auto *address = const_cast<Value *>(simAddress(instruction));
  if (address->getType()->getPointerAddressSpace() != 0)
    return;
  auto known = summedUp.find(&instruction);
  if (known != summedUp.end() && !checks)
    return;
  unsigned number = 0;
  for (const Piece &piece : splitType(getType(instruction))) {
    Value *begin = moved(address, piece.offset, instruction);
    if (known != summedUp.end())
      records.push_back(
          {begin, MPG_SIM_CHECKED, known->second[number++], true});
    else
      records.push_back(
          {begin, MPG_SIM_ACCESS,
           getPlace(instruction, *address, isStore(instruction), piece.bytes),
           true, nullptr, addresses.lookup(&instruction),
           int64_t(piece.offset)});
  }
}

void SimFunction::addSummary(const SimLoop &loop) {
  SimRecords streams;
  for (const SimStream &stream : loop.streams) {
    SmallVector<unsigned, 2> &places = summedUp[stream.access];
    size_t at = 0;
    for (const Piece &piece : splitType(getType(*stream.access))) {
      if (at == places.size())
        places.push_back(getPlace(*stream.access, *simAddress(*stream.access),
                                  isStore(*stream.access), piece.bytes));
      streams.push_back({moved(stream.begin, piece.offset, *loop.place),
                         MPG_SIM_STREAM, places[at++], true});
      streams.push_back({stream.stride, MPG_SIM_STRIDE, 0, false});
    }
  }
  records.push_back(
      {loop.times, MPG_SIM_LOOP, unsigned(streams.size() / 2), false});
  records.append(streams);
}

/// Each lane whose bit is set is an access.
void SimFunction::addLanes(IntrinsicInst &call, Value *addresses, Value *mask,
                           Type *type, bool store) {
  auto *lanes = dyn_cast<FixedVectorType>(addresses->getType());
  if (!lanes)
    return addNotSeen(call, "gather or scatter of scalable vectors");
  uint64_t bytes =
      layout.getTypeStoreSize(type->getScalarType()).getFixedValue();
  unsigned place = getPlace(call, *addresses, store, bytes);
  IRBuilder<> builder(&call);
  for (unsigned lane = 0; lane < lanes->getNumElements(); ++lane)
    records.push_back({builder.CreateExtractElement(addresses, lane),
                       MPG_SIM_ACCESS, place, true,
                       builder.CreateExtractElement(mask, lane)});
}

/// Masked loads and stores count whole, if any of their lanes does.
void SimFunction::addMasked(IntrinsicInst &call) {
  Intrinsic::ID id = call.getIntrinsicID();
  bool store = id == Intrinsic::masked_store || id == Intrinsic::masked_scatter;
  bool isEach =
      id == Intrinsic::masked_gather || id == Intrinsic::masked_scatter;
  Value *address = call.getArgOperand(store ? 1 : 0);
  Type *type = store ? call.getArgOperand(0)->getType() : call.getType();
  Value *mask = nullptr;
  for (Value *argument : call.args())
    if (auto *vector = dyn_cast<VectorType>(argument->getType());
        vector && vector->getElementType()->isIntegerTy(1) && !mask)
      mask = argument;
  // A vector of bits is its own mask at first sight.
  if (!mask || address->getType()->getScalarType()->getPointerAddressSpace())
    return addNotSeen(call, "masked access");
  if (isEach)
    return addLanes(call, address, mask, type, store);
  IRBuilder<> builder(&call);
  Value *any = builder.CreateOrReduce(mask);
  for (const Piece &piece : splitType(type))
    records.push_back({moved(address, piece.offset, call), MPG_SIM_ACCESS,
                       getPlace(call, *address, store, piece.bytes), true,
                       any});
}

void SimFunction::addCopy(Instruction &call, Value *to, Value *from,
                          Value *bytes) {
  if (from)
    records.push_back({from, MPG_SIM_FROM,
                       getPlace(call, *from, /*store=*/false, largestAccess),
                       true});
  records.push_back({to, MPG_SIM_TO,
                     getPlace(call, *to, /*store=*/true, largestAccess), true});
  IRBuilder<> builder(&call);
  records.push_back({builder.CreateZExtOrTrunc(bytes, builder.getInt64Ty()),
                     MPG_SIM_BYTES, 0, false});
}

/// Whether \p call needs no record: it is known, or does not touch memory.
bool SimFunction::addIntrinsic(IntrinsicInst &call) {
  if (call.isAssumeLikeIntrinsic() || !call.mayReadOrWriteMemory())
    return true;
  switch (call.getIntrinsicID()) {
  case Intrinsic::masked_load:
  case Intrinsic::masked_store:
  case Intrinsic::masked_gather:
  case Intrinsic::masked_scatter:
    addMasked(call);
    return true;
  case Intrinsic::prefetch:
  case Intrinsic::stacksave:
  case Intrinsic::stackrestore:
  case Intrinsic::vastart:
  case Intrinsic::vaend:
  case Intrinsic::vacopy:
  case Intrinsic::trap:
  case Intrinsic::ubsantrap:
    return true;
  default:
    break;
  }
  if (auto *copy = dyn_cast<AnyMemTransferInst>(&call))
    addCopy(call, copy->getRawDest(), copy->getRawSource(), copy->getLength());
  else if (auto *fill = dyn_cast<AnyMemSetInst>(&call))
    addCopy(call, fill->getRawDest(), nullptr, fill->getLength());
  else
    addNotSeen(call, call.getCalledFunction()->getName());
  return true;
}

/// memcpy and similar functions, called by name.
bool SimFunction::addCopyCall(CallBase &call) {
  const Function *callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration() || call.arg_size() != 3)
    return false;
  StringRef name = callee->getName();
  bool fills = name == "memset";
  if (!fills && name != "memcpy" && name != "memmove")
    return false;
  if (!call.getArgOperand(0)->getType()->isPointerTy() ||
      (!fills && !call.getArgOperand(1)->getType()->isPointerTy()) ||
      !call.getArgOperand(2)->getType()->isIntegerTy())
    return false;
  addCopy(call, call.getArgOperand(0), fills ? nullptr : call.getArgOperand(1),
          call.getArgOperand(2));
  return true;
}

void SimFunction::addNotSeen(Instruction &call, StringRef name) {
  records.push_back({ConstantInt::get(Type::getInt64Ty(call.getContext()), 0),
                     MPG_SIM_CALLED, table.addCallee(name), true});
}

/// The descriptor whose block Flang's runtime allocates or frees in \p call:
/// that of a pointer, or of an allocatable that the compiler leaves to it.
/// Null for any other call.
static Value *findDescriptor(const CallBase &call, StringRef action) {
  const Function *callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration() || !call.arg_size())
    return nullptr;
  StringRef name = callee->getName();
  if (!name.consume_front("_FortranAPointer") &&
      !name.consume_front("_FortranAAllocatable"))
    return nullptr;
  Value *descriptor = call.getArgOperand(0);
  return name.starts_with(action) && descriptor->getType()->isPointerTy()
             ? descriptor
             : nullptr;
}

/// The call of std::pmr's memory_resource that \p call was inlined from:
/// "allocate" or "deallocate". The resource itself is mostly in the C++
/// library.
static bool isOfResource(const CallBase &call, StringRef method) {
  if (!call.getDebugLoc())
    return false;
  StringRef name =
      call.getDebugLoc()->getScope()->getSubprogram()->getLinkageName();
  // _ZNSt or with an inline namespace.
  return name.find("3pmr15memory_resource" + method.str()) < 12;
}

/// The block of a memory_resource.
static std::optional<Allocation> findPart(CallBase &call) {
  // The resource, bytes, alignment.
  if (call.arg_size() != 3 || !call.getType()->isPointerTy() ||
      !isOfResource(call, "8allocate"))
    return std::nullopt;
  return Allocation{&call, call.getArgOperand(1), nullptr, nullptr, false};
}

/// The memory that \p call maps.
static std::optional<Allocation> findMapping(CallBase &call) {
  const Function *callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration() || !call.getType()->isPointerTy())
    return std::nullopt;
  StringRef name = callee->getName();
  bool maps = name == "mmap" || name == "mmap64";
  if ((!maps || call.arg_size() != 6) &&
      (name != "mremap" || call.arg_size() < 4))
    return std::nullopt;
  return Allocation{&call, call.getArgOperand(maps ? 1 : 2), nullptr, nullptr,
                    false};
}

/// Blocks of the heap, mappings, and parts of them.
static std::optional<Allocation> findBlock(CallBase &call) {
  if (std::optional<Allocation> found = findAllocation(call))
    return found;
  if (std::optional<Allocation> found = findMapping(call))
    return found;
  return findPart(call);
}

/// The block that \p call gives back, or null.
static Value *findFreed(CallBase &call) {
  if (Value *freed = freedBy(call))
    return freed;
  if (Value *moved = reallocatedBy(call))
    return moved;
  if (call.arg_size() == 4 && isOfResource(call, "10deallocate"))
    return call.getArgOperand(1); // after the resource
  const Function *callee = call.getCalledFunction();
  bool unmaps =
      callee && callee->isDeclaration() && call.arg_size() >= 2 &&
      (callee->getName() == "munmap" || callee->getName() == "mremap");
  return unmaps ? call.getArgOperand(0) : nullptr;
}

/// After \p call: in its block, or in the normal successor of a call that may
/// throw.
void SimFunction::addAllocated(CallBase &call) {
  std::optional<Allocation> found = findBlock(call);
  bool isRealloc = !found && reallocatedBy(call) && call.arg_size() == 2 &&
                   call.getType()->isPointerTy();
  Value *descriptor = findDescriptor(call, "Allocate");
  if (!found && !isRealloc && !descriptor)
    return;
  if (call.isMustTailCall())
    return; // a tail call: nothing may follow it; the memory stays unnamed
  Module &module = *call.getModule();
  auto *invoke = dyn_cast<InvokeInst>(&call);
  BasicBlock *next = invoke ? invoke->getNormalDest() : call.getParent();
  if (invoke && !next->getSinglePredecessor())
    return; // shown as memory without a name
  IRBuilder<> builder(next, invoke ? next->getFirstInsertionPt()
                                   : std::next(call.getIterator()));
  // mpgsim finds the line by the address that the call below returns to.
  builder.SetCurrentDebugLocation(call.getDebugLoc());
  Type *number = builder.getInt64Ty();
  Value *word = builder.CreateAdd(
      builder.CreateLoad(number, table.firstPlace()),
      builder.getInt64(
          uint64_t(MPG_SIM_ALLOCATED) << MPG_SIM_KIND_SHIFT |
          table.addAllocation(call, findPart(call).has_value(), descriptor)));
  if (descriptor) {
    builder.CreateCall(
        module.getOrInsertFunction("mpg_sim_described", builder.getVoidTy(),
                                   descriptor->getType(), number),
        {descriptor, word});
    return;
  }
  Value *bytes = builder.CreateZExtOrTrunc(
      found ? found->bytes : call.getArgOperand(1), number);
  if (found && found->count)
    bytes = builder.CreateMul(bytes,
                              builder.CreateZExtOrTrunc(found->count, number));
  Value *address = &call;
  if (found && found->result) {
    // posix_memalign leaves the pointer as it was when it fails.
    Value *stored = builder.CreateLoad(builder.getPtrTy(), found->result);
    address = builder.CreateSelect(builder.CreateIsNull(&call), stored,
                                   Constant::getNullValue(stored->getType()));
  }
  builder.CreateCall(
      module.getOrInsertFunction("mpg_sim_allocated", builder.getVoidTy(),
                                 address->getType(), number, number),
      {address, bytes, word});
}

/// After all that was accessed before.
void SimFunction::addFreed(CallBase &call, Value *address) {
  writeBefore(call);
  IRBuilder<> builder(&call);
  builder.CreateCall(call.getModule()->getOrInsertFunction("mpg_sim_freed",
                                                           builder.getVoidTy(),
                                                           address->getType()),
                     address);
}

/// sqrt, log and others whose only access is errno, after an error.
bool SimFunction::isMathCall(const CallBase &call) const {
  LibFunc function;
  return call.getType()->isFloatingPointTy() &&
         none_of(
             call.args(),
             [](const Use &use) { return use->getType()->isPointerTy(); }) &&
         library.getLibFunc(call, function);
}

/// The callee's records come in between, so flush all earlier ones.
void SimFunction::addCall(CallBase &call) {
  const Function *callee = call.getCalledFunction();
  bool isDeclared = callee && callee->isDeclarationForLinker();
  if (callee && callee->getName().starts_with("mpg_sim_"))
    return writeBefore(call); // of the runtime, which records no access
  if (isDeclared &&
      ((!call.mayReadOrWriteMemory() && call.willReturn()) || isMathCall(call)))
    return;
  if (call.isInlineAsm()) {
    auto *code = cast<InlineAsm>(call.getCalledOperand());
    if (call.mayReadOrWriteMemory() && !code->getAsmString().empty())
      addNotSeen(call, "inline assembly");
    return;
  }
  Value *freed = findFreed(call);
  if (Value *descriptor = findDescriptor(call, "Deallocate")) {
    IRBuilder<> builder(&call); // its first word is the address
    freed = builder.CreateLoad(builder.getPtrTy(), descriptor);
  }
  if (freed && freed->getType()->isPointerTy())
    addFreed(call, freed);
  else if (callee && !isDeclared)
    call.removeFnAttr(Attribute::Memory); // it writes records
  else if (!addCopyCall(call) && isDeclared && !findBlock(call) &&
           !findDescriptor(call, "Allocate") && !call.doesNotReturn())
    addNotSeen(call, callee->getName());
  if (!call.isTerminator())
    writeBefore(call);
  addAllocated(call);
}

void SimFunction::addInstruction(Instruction &instruction) {
  if (simAddress(instruction)) {
    // Not those that addAllocated() has put into the successor of an invoke.
    if (addresses.count(&instruction))
      addAccess(instruction);
    return;
  }
  if (auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction))
    if (addIntrinsic(*intrinsic))
      return;
  if (auto *call = dyn_cast<CallBase>(&instruction))
    addCall(*call);
}

void SimFunction::addBlock(BasicBlock &block) {
  records.clear();
  std::vector<Instruction *> instructions;
  for (Instruction &instruction : block)
    instructions.push_back(&instruction);
  const CallInst *tail = block.getTerminatingMustTailCall();
  for (Instruction *instruction : instructions) {
    addInstruction(*instruction);
    if (instruction == tail)
      writeBefore(*instruction); // not between it and the return
    if (records.size() > maxSimRecords / 4 && !isa<PHINode>(instruction) &&
        !instruction->isTerminator())
      writeBefore(*instruction->getNextNode());
  }
  Instruction &end = *instructions.back();
  if (auto summary = summaries.find(&end); summary != summaries.end())
    for (const SimLoop &loop : summary->second)
      addSummary(loop);
  writeBefore(end);
}

void SimFunction::run(Function &function, const DominatorTree &dominators) {
  SCEVExpander expander = makeExpander(scev, function, "mpg.sim");
  for (Loop *loop : loops.getLoopsInPreorder())
    if (loop->isInnermost())
      if (SimLoops sums = sumUp(*loop, scev, expander, dominators);
          !sums.empty())
        summaries.insert({sums[0].place, sums});
  expander.clear();
  // While the function is as the analyses know it.
  for (Instruction &instruction : instructions(function))
    if (auto *address = const_cast<Value *>(simAddress(instruction)))
      addresses[&instruction] = scev.getSCEV(address);
  // Code in front of a loop precedes the loop: its places must be known first.
  std::vector<BasicBlock *> blocks;
  for (BasicBlock *block : depth_first(&function.getEntryBlock()))
    blocks.push_back(block);
  for (BasicBlock *block : blocks)
    addBlock(*block);
}
