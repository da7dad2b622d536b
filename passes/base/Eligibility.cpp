// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "base/Eligibility.h"
#include "base/Diagnostics.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace mpg;

bool mpg::targetHasTags(const Module &module) {
  Triple triple(module.getTargetTriple());
  return triple.getArch() == Triple::aarch64 && triple.isOSLinux();
}

const char *mpg::whyUntagged(const Function &function) {
  static constexpr Attribute::AttrKind sanitizers[] = {
      Attribute::SanitizeAddress, Attribute::SanitizeHWAddress,
      Attribute::SanitizeMemTag,  Attribute::SanitizeThread,
      Attribute::SanitizeMemory,
#if LLVM_VERSION_MAJOR >= 20
      Attribute::SanitizeType,
#endif
  };
  for (Attribute::AttrKind kind : sanitizers)
    if (function.hasFnAttribute(kind))
      return "it is compiled with a sanitizer, which uses addresses itself";
  if (function.hasFnAttribute(Attribute::OptimizeNone))
    return "it is not optimised; compile with -O1 or more";
  if (function.hasFnAttribute(Attribute::Naked))
    return "it is a naked function";
  return nullptr;
}

void mpg::remarkUntagged(Function &function, StringRef reason) {
  OptimizationRemarkEmitter emitter(&function);
  emitter.emit([&] {
    BasicBlock &entry = function.getEntryBlock();
    return OptimizationRemarkMissed(
               remarkPass, "NotTagged",
               DiagnosticLocation(function.getSubprogram()), &entry)
           << "no hint is applied in "
           << ore::NV("Function", function.getName()) << ": "
           << ore::NV("Reason", reason);
  });
}

void mpg::remarkUntagged(Module &module, StringRef reason) {
  for (Function &function : module)
    if (!function.isDeclaration())
      return remarkUntagged(function, reason);
}
