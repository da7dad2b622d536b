// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the calls of libomp that clang would write for
//
//   #pragma omp parallel for schedule(static[, chunk]) num_threads(threads)
//
// around a loop that is in IR already, and outlines its body. See
// ParallelInit.h.

#include "openmp/ParallelInit.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/CodeExtractor.h"

using namespace llvm;
using namespace mpg;

// Of kmp.h: enum sched_type and KMP_IDENT_*.
static constexpr int scheduleChunk = 33, scheduleBlock = 34;
static constexpr int identPlain = 0x2, identLoop = 0x202;

/// An entry point of libomp, declared as clang does.
static FunctionCallee runtimeCall(Module &module, StringRef name, Type *result,
                                  ArrayRef<Type *> parameters,
                                  bool isVarArg = false) {
  FunctionCallee callee = module.getOrInsertFunction(
      name, FunctionType::get(result, parameters, isVarArg));
  if (auto *function = dyn_cast<Function>(callee.getCallee()))
    function->setDoesNotThrow();
  return callee;
}

/// The ident_t with a call's source position: none.
static Constant *sourceIdent(Module &module, int flags) {
  StringRef name = flags == identLoop ? "mpg.ident.loop" : "mpg.ident";
  if (GlobalVariable *known = module.getGlobalVariable(name, true))
    return known;
  LLVMContext &context = module.getContext();
  StringRef text = ";unknown;unknown;0;0;;";
  auto addConstant = [&](Constant *value, const Twine &name) {
    auto *variable =
        new GlobalVariable(module, value->getType(), /*isConstant=*/true,
                           GlobalValue::PrivateLinkage, value, name);
    variable->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    return variable;
  };
  Constant *place =
      addConstant(ConstantDataArray::getString(context, text), name + ".text");
  auto number = [&](uint64_t value) {
    return ConstantInt::get(Type::getInt32Ty(context), value);
  };
  Constant *ident = ConstantStruct::getAnon(
      {number(0), number(flags), number(0), number(text.size()), place});
  GlobalVariable *variable = addConstant(ident, name);
  variable->setAlignment(Align(8));
  return variable;
}

TeamLoop::TeamLoop(IRBuilderBase &builder, Value *iterations,
                   const LoopShare &share, BasicBlock &after)
    : function(*builder.GetInsertBlock()->getParent()),
      where(builder.getCurrentDebugLocation()), after(after) {
  Type *number = builder.getInt64Ty();
  threads = share.threads ? builder.CreateIntCast(share.threads,
                                                  builder.getInt32Ty(), true)
                          : nullptr;
  Value *chunk = nullptr;
  // A larger one equals all iterations, and overflows in libomp.
  if (share.chunk)
    chunk = builder.CreateBinaryIntrinsic(
        Intrinsic::smin, builder.CreateIntCast(share.chunk, number, true),
        iterations);
  auto addBlock = [&](const char *name) {
    return BasicBlock::Create(function.getContext(), name, &function, &after);
  };
  start = addBlock("mpg.team");
  check = addBlock("mpg.team.check");
  run = addBlock("mpg.team.run");
  next = addBlock("mpg.team.next");
  finish = addBlock("mpg.team.finish");
  shareOut(iterations, chunk);
}

/// Fills the blocks but run. The loop over chunks runs once for a block: its
/// stride is then all iterations.
void TeamLoop::shareOut(Value *iterations, Value *chunk) {
  Module &module = *function.getParent();
  IRBuilder<> builder(start);
  builder.SetCurrentDebugLocation(where);
  Type *number = builder.getInt64Ty(), *flag = builder.getInt32Ty(),
       *nothing = builder.getVoidTy(), *pointer = builder.getPtrTy();
  Value *isLast = builder.CreateAlloca(flag),
        *lower = builder.CreateAlloca(number),
        *upper = builder.CreateAlloca(number),
        *stride = builder.CreateAlloca(number);
  Value *one = builder.getInt64(1);
  Value *end = builder.CreateSub(iterations, one);
  builder.CreateStore(builder.getInt32(0), isLast);
  builder.CreateStore(builder.getInt64(0), lower);
  builder.CreateStore(end, upper);
  builder.CreateStore(one, stride);
  Constant *ident = sourceIdent(module, identLoop);
  Value *thread = builder.CreateCall(
      runtimeCall(module, "__kmpc_global_thread_num", flag, {pointer}),
      {ident});
  builder.CreateCall(runtimeCall(module, "__kmpc_for_static_init_8", nothing,
                                 {pointer, flag, flag, pointer, pointer,
                                  pointer, pointer, number, number}),
                     {ident, thread,
                      builder.getInt32(chunk ? scheduleChunk : scheduleBlock),
                      isLast, lower, upper, stride, one, chunk ? chunk : one});
  Value *from = builder.CreateLoad(number, lower),
        *to = builder.CreateLoad(number, upper),
        *distance = builder.CreateLoad(number, stride);
  builder.CreateBr(check);

  builder.SetInsertPoint(check);
  PHINode *chunkFirst = builder.CreatePHI(number, 2),
          *chunkLast = builder.CreatePHI(number, 2);
  first = chunkFirst;
  last = builder.CreateBinaryIntrinsic(Intrinsic::smin, chunkLast, end);
  builder.CreateCondBr(builder.CreateICmpSLE(first, last), run, finish);

  builder.SetInsertPoint(next);
  chunkFirst->addIncoming(from, start);
  chunkLast->addIncoming(to, start);
  chunkFirst->addIncoming(builder.CreateAdd(first, distance), next);
  chunkLast->addIncoming(builder.CreateAdd(chunkLast, distance), next);
  builder.CreateBr(check);

  builder.SetInsertPoint(finish);
  builder.CreateCall(
      runtimeCall(module, "__kmpc_for_static_fini", nothing, {pointer, flag}),
      {ident, thread});
  builder.CreateBr(&after);
}

/// The variables of a function, of which the extractor moves those that only
/// the region uses. There are none, since the serial loop stays, and scanning
/// all code for each loop would take long: so pass an empty set.
static CodeExtractorAnalysisCache noVariables(Module &module) {
  Function *nothing = Function::Create(
      FunctionType::get(Type::getVoidTy(module.getContext()), false),
      GlobalValue::PrivateLinkage, "", module);
  CodeExtractorAnalysisCache cache(*nothing);
  nothing->eraseFromParent();
  return cache;
}

BasicBlock *TeamLoop::outline(ArrayRef<BasicBlock *> blocks) {
  Module &module = *function.getParent();
  SmallVector<BasicBlock *, 16> region = {start, check, run};
  region.append(blocks.begin(), blocks.end());
  region.append({next, finish});
  // In a variadic function, code that reads the argument list never gets here.
  // With AllowVarArgs the extractor would want all of that code in the region.
  CodeExtractor extractor(region, /*DT=*/nullptr, /*AggregateArgs=*/true,
                          /*BFI=*/nullptr, /*BPI=*/nullptr, /*AC=*/nullptr,
                          /*AllowVarArgs=*/false, /*AllowAlloca=*/true,
                          /*AllocationBlock=*/nullptr, "mpg_init");
  Function *body = extractor.extractCodeRegion(noVariables(module));
  // Nothing that keeps code from being extracted gets past whyNotOnAnyThread.
  if (!body)
    report_fatal_error("mpg: an initialisation loop could not be outlined");
  BasicBlock &entry = body->getEntryBlock();
  for (Instruction &instruction : make_early_inc_range(*start))
    if (isa<AllocaInst>(instruction))
      instruction.moveBefore(entry, entry.getFirstInsertionPt());
  auto &call = *cast<CallInst>(body->user_back());
  BasicBlock *caller = call.getParent();
  callOnTeam(call);
  // Attributes of the function's code no longer hold.
  function.removeFnAttr(Attribute::Memory);
  function.removeFnAttr(Attribute::NoSync);
  function.removeFnAttr(Attribute::NoFree);
  return caller;
}

/// Makes a team run what \p call calls. libomp hands its own two arguments over
/// first, so a function stands between, as in clang's code with -g.
void TeamLoop::callOnTeam(CallInst &call) {
  Module &module = *function.getParent();
  Function *body = call.getCalledFunction();
  IRBuilder<> builder(&call);
  Type *flag = builder.getInt32Ty(), *nothing = builder.getVoidTy(),
       *pointer = builder.getPtrTy();
  SmallVector<Type *, 3> parameters(2 + call.arg_size(), pointer);
  Function *onThread = Function::Create(
      FunctionType::get(nothing, parameters, false),
      GlobalValue::InternalLinkage, body->getName() + ".omp_outlined", module);
  onThread->setAttributes(AttributeList::get(
      module.getContext(), AttributeList::FunctionIndex,
      AttrBuilder(module.getContext(), body->getAttributes().getFnAttrs())));
  onThread->setDoesNotThrow();
  IRBuilder<> inside(
      BasicBlock::Create(module.getContext(), "entry", onThread));
  SmallVector<Value *, 1> arguments;
  for (Argument &argument : drop_begin(onThread->args(), 2))
    arguments.push_back(&argument);
  inside.CreateCall(body, arguments);
  inside.CreateRetVoid();

  Constant *ident = sourceIdent(module, identPlain);
  if (threads) {
    Value *thread = builder.CreateCall(
        runtimeCall(module, "__kmpc_global_thread_num", flag, {pointer}),
        {ident});
    builder.CreateCall(runtimeCall(module, "__kmpc_push_num_threads", nothing,
                                   {pointer, flag, flag}),
                       {ident, thread, threads});
  }
  SmallVector<Value *, 4> operands = {ident, builder.getInt32(call.arg_size()),
                                      onThread};
  operands.append(call.arg_begin(), call.arg_end());
  builder.CreateCall(runtimeCall(module, "__kmpc_fork_call", nothing,
                                 {pointer, flag, pointer}, /*isVarArg=*/true),
                     operands);
  call.eraseFromParent();
}
