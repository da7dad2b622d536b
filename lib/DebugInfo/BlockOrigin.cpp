// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BlockOrigin.h.

#include "DebugInfo/BlockOrigin.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

std::string BlockOrigin::name() const {
  return variable.empty() ? place : variable + " (" + place + ")";
}

/// Between the program and its memory, or before its main; no user looks for an
/// array there.
static bool isNobodys(StringRef library, const SourceFrame &frame) {
  for (StringRef prefix : {"libmpgrt.", "libc.so", "libc-2", "libstdc++.",
                           "libc++", "ld-linux", "libgfortran."})
    if (library.starts_with(prefix))
      return true;
  StringRef function = frame.function;
  for (StringRef prefix :
       {"_start", "mpg::", "operator new", "std::", "__gnu_cxx::", "__rust_",
        "alloc::alloc::", "alloc::raw_vec::"})
    if (function.starts_with(prefix))
      return true;
  if (StringRef(frame.file).contains("/include/c++/"))
    return true;
  return is_contained({"malloc", "calloc", "realloc", "memalign",
                       "posix_memalign", "aligned_alloc", "valloc"},
                      function);
}

namespace {
/// A function on the way to a block.
struct Step {
  const CallAddress *call;
  size_t number; ///< of DebugInfo::frames
  SourceFrame frame;
  std::string place;
};
} // namespace

/// "solve+0x4d", "libfoo.so.1+0x1f00", "0x7f00000000".
static std::string placeWithoutLine(const CallAddress &call,
                                    const FunctionTable &functions,
                                    const SourceFrame *frame) {
  if (call.path.empty())
    return formatHex(call.address);
  uint64_t before = call.address - 1;
  if (const FunctionTable::Function *function = functions.find(before);
      function && frame && !frame->function.empty())
    return printable(frame->function) + "+" +
           formatHex(before - function->start);
  return printable(sys::path::filename(call.path)) + "+" +
         formatHex(before - functions.firstAddress());
}

static std::string describePlace(const SourceFrame &frame) {
  return printable(sys::path::filename(frame.file)) + ":" +
         std::to_string(frame.line);
}

DebugInfo &BlockNamer::getInfo(const std::string &path) {
  std::unique_ptr<DebugInfo> &info = files[path];
  if (!info)
    info = std::make_unique<DebugInfo>(path);
  return *info;
}

/// Whether \p call is in the main that compilers write around a program in
/// Fortran.
static bool isFortranStart(DebugInfo &info, const CallAddress &call,
                           ArrayRef<Step> inner) {
  if (inner.empty() || inner.back().call->path != call.path)
    return false;
  auto *program = info.functions().find(inner.back().call->address - 1);
  auto *outer = info.functions().find(call.address - 1);
  return program && outer && outer->name == "main" &&
         (program->name == "MAIN__" || program->name == "_QQmain");
}

/// The user's own steps, from the inside out.
static void addSteps(const CallAddress &call, DebugInfo &info,
                     std::vector<Step> &steps) {
  StringRef library = sys::path::filename(call.path);
  const std::vector<SourceFrame> &frames = info.frames(call.address - 1);
  if (frames.empty() && !isNobodys(library, SourceFrame()))
    steps.push_back({&call, 0, SourceFrame(),
                     placeWithoutLine(call, info.functions(), nullptr)});
  for (size_t number = 0; number < frames.size(); ++number) {
    const SourceFrame &frame = frames[number];
    if (isNobodys(library, frame) || isFortranStart(info, call, steps))
      continue;
    bool hasLine = frame.line && !frame.file.empty();
    steps.push_back({&call, number, frame,
                     hasLine
                         ? describePlace(frame)
                         : placeWithoutLine(call, info.functions(), &frame)});
  }
}

/// The first step that does more than to pass on.
static const Step &getOwner(ArrayRef<Step> steps) {
  size_t at = 0;
  while (at + 1 < steps.size() && steps[at].frame.returnsPointer &&
         steps[at + 1].frame.line)
    ++at;
  return steps[at];
}

BlockOrigin BlockNamer::origin(ArrayRef<CallAddress> calls) {
  BlockOrigin origin;
  std::vector<Step> steps;
  for (const CallAddress &call : calls)
    addSteps(call, getInfo(call.path), steps);
  if (steps.empty())
    return origin;
  const Step &owner = getOwner(steps);
  origin.place = owner.place;
  origin.file = printable(sys::path::filename(owner.call->path));
  origin.hasLine = owner.frame.line != 0;
  origin.sourceFile = owner.frame.file;
  origin.line = owner.frame.line;
  if (origin.hasLine)
    origin.variable = printable(
        getInfo(owner.call->path).receiver(owner.call->address, owner.number));
  for (const Step &step : steps)
    origin.callers.push_back(step.frame.line ? printable(step.frame.function) +
                                                   " (" + step.place + ")"
                                             : step.place);
  return origin;
}

/// The first of the callers of \p one that no other of \p same has at its
/// place; empty: there is none.
static std::string tellingCaller(const BlockOrigin &one,
                                 ArrayRef<BlockOrigin *> same) {
  for (size_t at = 0; at < one.callers.size(); ++at)
    if (all_of(same, [&](const BlockOrigin *other) {
          return other == &one || at >= other->callers.size() ||
                 other->callers[at] != one.callers[at];
        }))
      return one.callers[at];
  return "";
}

void mpg::disambiguate(MutableArrayRef<BlockOrigin> origins) {
  std::map<std::string, std::vector<BlockOrigin *>> byName;
  for (BlockOrigin &origin : origins)
    if (origin.hasLine)
      byName[origin.name()].push_back(&origin);
  for (auto &[name, same] : byName) {
    if (same.size() < 2)
      continue;
    std::vector<std::string> added;
    for (BlockOrigin *one : same)
      added.push_back(tellingCaller(*one, same));
    for (size_t at = 0; at < same.size(); ++at)
      same[at]->place +=
          added[at].empty() ? " #" + std::to_string(at + 1) : ", " + added[at];
  }
}
