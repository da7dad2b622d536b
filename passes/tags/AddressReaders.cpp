// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See AddressReaders.h.

#include "tags/AddressReaders.h"
#include "base/Access.h"
#include "base/Hint.h"
#include "tags/TagRemover.h"
#include "llvm/ADT/Any.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"

using namespace llvm;
using namespace mpg;

static bool readsAddresses(StringRef pass) {
  static constexpr StringLiteral readers[] = {
      "DataFlowSanitizerPass", "MemProfilerPass", "SanitizerCoveragePass"};
  return is_contained(readers, pass);
}

/// The module that a pass is about to run on, or on a part of.
static Module *moduleOf(const Any &ir) {
  const Module *module = nullptr;
  if (const auto *whole = any_cast<const Module *>(&ir))
    module = *whole;
  else if (const auto *function = any_cast<const Function *>(&ir))
    module = (*function)->getParent();
  return const_cast<Module *>(module);
}

static void untag(Module &module) {
  if (!removeTags(module))
    return;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      eraseMark(instruction);
  remarkUntagged(module, "the tags are taken off again, because of "
                         "instrumentation that computes with addresses "
                         "(-fsanitize=dataflow, -fmemory-profile or "
                         "-fsanitize-coverage)");
}

void mpg::watchAddressReaders(PassInstrumentationCallbacks &callbacks) {
  callbacks.registerBeforeNonSkippedPassCallback([](StringRef pass, Any ir) {
    Module *module = readsAddresses(pass) ? moduleOf(ir) : nullptr;
    if (module)
      untag(*module);
  });
}
