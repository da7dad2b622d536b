// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hints/PragmaReader.h"
#include "hints/AnnotationReader.h"
#include "hints/HintText.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace mpg;

namespace {
struct Marker {
  IntrinsicInst *call = nullptr;
  HintText text;
  SourceLine where;
};
} // namespace

static bool isMarker(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == Intrinsic::annotation &&
         isHintText(constantText(call->getArgOperand(1)));
}

static std::vector<Marker> findMarkers(Function &function) {
  std::vector<Marker> markers;
  for (Instruction &instruction : instructions(function)) {
    if (!isMarker(instruction))
      continue;
    Marker marker;
    marker.call = cast<IntrinsicInst>(&instruction);
    marker.where = lineOf(*marker.call);
    StringRef text = constantText(marker.call->getArgOperand(1));
    Expected<HintText> parsed = parseHintText(text);
    if (!parsed) {
      warn(function.getContext(), marker.where,
           "hint '" + text + "' is ignored: " + toString(parsed.takeError()));
      continue;
    }
    marker.text = *parsed;
    markers.push_back(marker);
  }
  return markers;
}

/// What follows \p begin, up to the markers of kind \p end, which are added
/// to \p ends.
static std::shared_ptr<Region> regionBehind(const Marker &begin, HintKind end,
                                            ArrayRef<Marker> markers,
                                            std::vector<Instruction *> &ends) {
  auto region = std::make_shared<Region>();
  SmallVector<Instruction *, 8> todo = {begin.call->getNextNode()};
  while (!todo.empty()) {
    for (Instruction *at = todo.pop_back_val(); at; at = at->getNextNode()) {
      if (region->contains(at))
        break;
      const Marker *marker =
          find_if(markers, [&](const Marker &m) { return m.call == at; });
      if (marker != markers.end() && marker->text.kind == end) {
        if (!is_contained(ends, at))
          ends.push_back(at);
        break;
      }
      region->insert(at);
      if (at->isTerminator())
        for (BasicBlock *next : successors(at->getParent()))
          todo.push_back(&next->front());
    }
  }
  return region;
}

/// The variable whose value, as an integer, is the operand of a marker.
static void setRoot(const Marker &marker, HintRequest &request) {
  Value *value = marker.call->getArgOperand(0);
  while (auto *cast = dyn_cast<PtrToIntOperator>(value))
    value = cast->getPointerOperand();
  value = value->stripPointerCastsSameRepresentation();
  if (auto *load = dyn_cast<LoadInst>(value)) {
    request.root = load->getPointerOperand();
    request.target = HintRequest::pointerVariable;
    return;
  }
  // The first element of an array.
  while (auto *gep = dyn_cast<GEPOperator>(value)) {
    if (!gep->hasAllZeroIndices())
      break;
    value = gep->getPointerOperand();
  }
  request.root = value;
  request.target = HintRequest::data;
}

static void addHint(const Marker &marker, ArrayRef<Marker> markers,
                    HintRequests &requests) {
  HintRequest request;
  request.hint = marker.text.hint;
  request.where = marker.where;
  request.regionFunction = marker.call->getFunction();
  setRoot(marker, request);
  if (marker.text.kind == HintKind::assign) {
    std::vector<Instruction *> ends;
    request.region = regionBehind(marker, HintKind::endAssign, markers, ends);
  }
  requests.hints.push_back(request);
}

static void addWays(const Marker &marker, ArrayRef<Marker> markers,
                    HintRequests &requests) {
  WaysRequest request;
  request.function = marker.call->getFunction();
  request.ways = marker.text.ways;
  request.where = marker.where;
  if (marker.text.kind == HintKind::ways) {
    request.begin = marker.call;
    request.region =
        regionBehind(marker, HintKind::endWays, markers, request.ends);
  }
  requests.ways.push_back(request);
}

bool mpg::readMarkers(Module &module, HintRequests &requests) {
  bool isChanged = false;
  for (Function &function : module) {
    std::vector<Marker> markers = findMarkers(function);
    isChanged |= !markers.empty();
    for (const Marker &marker : markers) {
      switch (marker.text.kind) {
      case HintKind::assign:
      case HintKind::procedureAssign:
        addHint(marker, markers, requests);
        break;
      case HintKind::ways:
      case HintKind::procedureWays:
        addWays(marker, markers, requests);
        break;
      case HintKind::hint:
      case HintKind::touch:
      case HintKind::endAssign:
      case HintKind::endWays:
        break;
      }
    }
  }
  return isChanged;
}

void mpg::eraseMarkers(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction :
         make_early_inc_range(instructions(function)))
      if (isMarker(instruction)) {
        auto *value = dyn_cast<Instruction>(instruction.getOperand(0));
        instruction.replaceAllUsesWith(instruction.getOperand(0));
        instruction.eraseFromParent();
        if (value)
          RecursivelyDeleteTriviallyDeadInstructions(value);
      }
}
