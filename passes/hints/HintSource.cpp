// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HintSource.h.

#include "hints/HintSource.h"
#include "base/Access.h"
#include "base/PassOptions.h"
#include "hints/AccessMarker.h"
#include "hints/FirstTouchChoice.h"
#include "tags/TagForm.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

/// Where \p where is, if \p function is in its file.
DebugLoc mpg::getLocation(const SourceLine &where, Function &function) {
  DISubprogram *program = function.getSubprogram();
  if (!program)
    return {};
  bool isThere = sys::path::filename(program->getFilename()) ==
                 sys::path::filename(where.file);
  return DILocation::get(function.getContext(),
                         isThere ? where.line : program->getLine(), 0, program);
}

void mpg::remarkHonoured(const SourceLine &where, Function &function,
                         const Twine &what) {
  OptimizationRemark remark(remarkPass, "HintHonoured",
                            getLocation(where, function),
                            &function.getEntryBlock());
  remark << "the hint of " << where.file << ":" << ore::NV("Line", where.line)
         << " is honoured: " << what.str();
  OptimizationRemarkEmitter(&function).emit(remark);
}

/// Whether the loader tags variables of \p module for memory tagging.
/// Attributes of functions do not show it, and a function that uses none of
/// these variables may still receive their addresses.
static bool tagsGlobals(const Module &module) {
  return any_of(module.globals(), [](const GlobalVariable &global) {
    return global.hasSanitizerMetadata() &&
           global.getSanitizerMetadata().Memtag;
  });
}

/// Marks what the hints of \p module mean. Returns whether it changed.
static bool applyHints(Module &module, const PassOptions &options,
                       const HintRequests &requests) {
  bool isAsked = !requests.hints.empty() || !requests.ways.empty();
  if (!isAsked && !options.randomSeed)
    return false;
  storePassOptions(module, options);
  AccessMarker marker(module, options);
  marker.add(requests);
  if (options.randomSeed)
    marker.addRandom(*options.randomSeed);
  marker.write();
  // Last: regions and random hints are about the code as it was written.
  bracketWays(module, requests);
  return true;
}

PreservedAnalyses HintSourcePass::run(Module &module, ModuleAnalysisManager &) {
  Expected<PassOptions> options = readPassOptions();
  if (!options) {
    fail(module.getContext(), toString(options.takeError()));
    return PreservedAnalyses::all();
  }
  HintRequests requests;
  // Read and erased for any target and at -O0 as well, because leftover
  // annotations keep loops from being vectorised.
  bool isChanged = readAnnotations(module, requests);
  isChanged |= readMarkers(module, requests);
  const char *reason = whyNoHints(module);
  isChanged |= removeTags(module);
  for (const std::string &file : options->hintFiles)
    readSideFile(module, file, requests);
  isChanged |= markTouches(module, requests);
  if (targetHasTags(module) && optimised)
    isChanged |= markLoops(module, requests, *options);
  bool isAsked = !requests.hints.empty() || !requests.ways.empty();
  if (isAsked && options->userHints && reason)
    remarkUntagged(module, reason);
  else if (isAsked && options->userHints && tagsGlobals(module))
    remarkUntagged(module, "-fsanitize=memtag-globals uses the byte itself");
  else if (isAsked && options->userHints && !optimised)
    remarkUntagged(module, "this is -O0; compile with -O1 or more");
  else if (options->userHints && !reason && optimised)
    isChanged |= applyHints(module, *options, requests);
  eraseMarkers(module);
  if (options->stripDebug && !optimised)
    isChanged |= StripDebugInfo(module);
  else if (options->stripDebug || options->autoSectors ||
           options->firstTouch != FirstTouch::on)
    storePassOptions(module, *options); // for the later stages
  return isChanged ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
