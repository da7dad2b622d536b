// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BlockOrigin.h.

#include "DebugInfo/BlockOrigin.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

std::string BlockOrigin::name() const {
  std::string where = place + distinction;
  return variable.empty() ? where : variable + " (" + where + ")";
}

bool BlockOrigin::isNamed(StringRef wanted, size_t number) const {
  if (wanted == place || (!variable.empty() && wanted == variable))
    return true;
  if (!variable.empty() &&
      !(wanted.consume_front(variable + " (") && wanted.consume_back(")")))
    return false;
  if (!wanted.consume_front(place))
    return false;
  if (size_t sign = wanted.rfind(" #"); sign != StringRef::npos) {
    if (wanted.drop_front(sign + 2) != std::to_string(number))
      return false;
    wanted = wanted.take_front(sign);
  }
  if (wanted.empty())
    return true;
  if (!wanted.consume_front(" from "))
    return false;
  return all_of(split(wanted, ", "), [&](StringRef caller) {
    return is_contained(callerPlaces, caller);
  });
}

/// Whether \p frame is between the program and its memory, as in a library of
/// arrays, or before its main; no user looks for an array there.
static bool isNobodys(StringRef library, const SourceFrame &frame) {
  for (StringRef prefix :
       {"libmpgrt.", "libc.so", "libc-2", "libstdc++.", "libc++", "ld-linux",
        "libgfortran.", "libflang_rt."})
    if (library.starts_with(prefix))
      return true;
  StringRef function = frame.function;
  for (StringRef prefix :
       {"_start", "mpg::", "operator new", "std::", "__gnu_cxx::", "__rust_",
        "alloc::alloc::", "alloc::raw_vec::", "_FortranA", "Fortran::runtime::",
        "Kokkos::", "Eigen::", "boost::", "thrust::", "umpire::", "RAJA::"})
    if (function.starts_with(prefix))
      return true;
  if (StringRef(frame.file).contains("/include/c++/"))
    return true;
  return hasWord("malloc calloc realloc memalign posix_memalign aligned_alloc "
                 "valloc",
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

CallAddress BlockNamer::findAllocating(const CallAddress &recording) {
  return {recording.path,
          getInfo(recording.path).getPreviousReturn(recording.address)};
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
  if (frames.empty())
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

/// Whether \p step returns a pointer to the block, as far as its code shows.
static bool isPassingOn(DebugInfo &info, const Step &step) {
  return step.frame.returnsPointer &&
         info.mayPassOn(step.call->address, step.number);
}

/// "Grid::Grid", "ns::Grid<double>::Grid".
static bool isConstructor(StringRef function) {
  auto [scope, name] = function.rsplit("::");
  StringRef type = scope.take_until([](char c) { return c == '<'; });
  return !name.empty() && (type == name || type.ends_with(("::" + name).str()));
}

/// "vector" of "std::vector<int, std::allocator<int> >::resize"; empty: it is
/// no method.
static StringRef getClass(StringRef function) {
  unsigned depth = 0;
  for (size_t at = function.size(); at > 1; --at) {
    depth += function[at - 1] == '>';
    depth -= function[at - 1] == '<' && depth;
    if (depth || function.slice(at - 2, at) != "::")
      continue;
    StringRef scope =
        function.take_front(at - 2).take_until([](char c) { return c == '<'; });
    return scope.rsplit("::").second;
  }
  return "";
}

/// The object whose method of the library \p call calls, v of v.resize(9). \p
/// calls: those of the block.
std::string BlockNamer::findObject(ArrayRef<CallAddress> calls,
                                   const CallAddress &call, size_t number) {
  if (&call == calls.begin())
    return "";
  const CallAddress &inner = *std::prev(&call);
  const std::vector<SourceFrame> &frames =
      getInfo(inner.path).frames(inner.address - 1);
  if (frames.empty() ||
      !isNobodys(sys::path::filename(inner.path), frames.back()))
    return "";
  StringRef className = getClass(frames.back().function);
  return className.empty()
             ? ""
             : getInfo(call.path).object(call.address, number, className);
}

BlockOrigin BlockNamer::origin(ArrayRef<CallAddress> calls) {
  BlockOrigin origin;
  std::vector<Step> steps;
  // Calls within libraries are skipped: reading their debug information takes
  // long.
  for (const CallAddress &call : calls)
    if (!isNobodys(sys::path::filename(call.path), SourceFrame()))
      addSteps(call, getInfo(call.path), steps);
  if (steps.empty())
    return origin;
  size_t first = 0; // that does more than to pass on
  while (first + 1 < steps.size() && steps[first + 1].frame.line &&
         isPassingOn(getInfo(steps[first].call->path), steps[first]))
    ++first;
  const Step &owner = steps[first];
  origin.place = owner.place;
  origin.file = printable(sys::path::filename(owner.call->path));
  origin.hasLine = owner.frame.line != 0;
  origin.sourceFile = owner.frame.file;
  origin.line = owner.frame.line;
  if (origin.hasLine) {
    DebugInfo &info = getInfo(owner.call->path);
    std::string name = info.receiver(owner.call->address, owner.number);
    if (name.empty())
      name = findObject(calls, *owner.call, owner.number);
    // An inlined constructor keeps the block in a member: of the object that
    // the caller declares there.
    if (name.empty() && owner.frame.isInlined &&
        isConstructor(owner.frame.function))
      name = info.receiver(owner.call->address, owner.number + 1);
    origin.variable = printable(name);
  }
  for (const Step &step : steps) {
    origin.callerPlaces.push_back(step.place);
    origin.callers.push_back(step.frame.line ? printable(step.frame.function) +
                                                   " (" + step.place + ")"
                                             : step.place);
  }
  return origin;
}

/// " from grid.c:40": the first of the callers of \p one that no other of \p
/// same has, else all that some other does not have.
static std::string findDistinction(const BlockOrigin &one,
                                   ArrayRef<BlockOrigin *> same) {
  std::string some;
  for (const std::string &caller : one.callerPlaces) {
    size_t sharers = count_if(same, [&](const BlockOrigin *other) {
      return is_contained(other->callerPlaces, caller);
    });
    if (sharers == 1)
      return " from " + caller;
    if (sharers < same.size())
      some += (some.empty() ? " from " : ", ") + caller;
  }
  return some;
}

void mpg::disambiguate(MutableArrayRef<BlockOrigin> origins) {
  std::map<std::string, std::vector<BlockOrigin *>> byName;
  for (BlockOrigin &origin : origins)
    if (origin.hasLine)
      byName[origin.name()].push_back(&origin);
  for (auto &[name, same] : byName) {
    if (same.size() < 2)
      continue;
    std::vector<std::string> found;
    for (BlockOrigin *one : same)
      found.push_back(findDistinction(*one, same));
    for (size_t at = 0; at < same.size(); ++at)
      same[at]->distinction =
          found[at] +
          (count(found, found[at]) == 1 ? "" : " #" + std::to_string(at + 1));
  }
}
