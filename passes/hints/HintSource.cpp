// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hints/HintSource.h"
#include "base/Access.h"
#include "base/PassOptions.h"
#include "hints/AccessMarker.h"
#include "hints/AnnotationReader.h"
#include "hints/PragmaReader.h"
#include "hints/SectorWays.h"
#include "hints/SideFile.h"
#include "hints/TouchMarker.h"
#include "tags/TagRemover.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mpg;

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
  bool isChanged = readAnnotations(module, requests);
  isChanged |= readMarkers(module, requests);
  bool hasTags = targetHasTags(module);
  isChanged |= removeTags(module);
  for (const std::string &file : options->hintFiles)
    readSideFile(module, file, requests);
  isChanged |= markTouches(module, requests);
  bool isAsked = !requests.hints.empty() || !requests.ways.empty();
  if (isAsked && options->userHints && !hasTags)
    remarkUntagged(module, "only AArch64 Linux has tags");
  else if (isAsked && options->userHints && !optimised)
    remarkUntagged(module, "this is -O0; compile with -O1 or more");
  else if (options->userHints && hasTags && optimised)
    isChanged |= applyHints(module, *options, requests);
  eraseMarkers(module);
  if (options->stripDebug && !optimised)
    isChanged |= StripDebugInfo(module);
  else if (options->stripDebug || options->firstTouch != FirstTouch::on)
    storePassOptions(module, *options); // for the later stages
  return isChanged ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
