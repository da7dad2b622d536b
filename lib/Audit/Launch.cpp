// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Launch.h.

#include "Audit/Launch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <tuple>

using namespace llvm;
using namespace mpg;

void Environment::set(StringRef name, Variable variable) {
  variables[name.str()] = std::move(variable);
}

void Environment::unset(StringRef name) { variables.erase(name.str()); }

const Variable *Environment::find(StringRef name) const {
  auto at = variables.find(name.str());
  return at == variables.end() ? nullptr : &at->second;
}

StringRef Environment::getValue(StringRef name) const {
  const Variable *variable = find(name);
  return variable && variable->known ? StringRef(variable->value) : "";
}

std::optional<unsigned> mpg::readThreads(StringRef value) {
  std::optional<unsigned> outer;
  for (StringRef level : split(value, ',')) {
    int threads = 0;
    if (level.trim().getAsInteger(10, threads) || threads <= 0)
      return std::nullopt;
    outer = outer.value_or(threads);
  }
  return outer;
}

std::optional<unsigned> Environment::threads() const {
  return readThreads(getValue("OMP_NUM_THREADS"));
}

SmallVector<StringRef> mpg::splitPreload(StringRef value) {
  SmallVector<StringRef> files;
  SplitString(value, files, " :");
  return files;
}

static auto smallParts(const Launch &launch) {
  return std::tie(launch.threads, launch.ranksPerNode, launch.stackBytes,
                  launch.sysroot, launch.unknownFromLine, launch.unknownFrom,
                  launch.underMpgrun, launch.uncertain, launch.memoryOption);
}

bool mpg::operator==(const Launch &a, const Launch &b) {
  return smallParts(a) == smallParts(b) &&
         a.environment.all() == b.environment.all();
}

bool Launch::mayChange(StringRef name) const {
  const Variable *variable = environment.find(name);
  if (variable && !variable->known)
    return true;
  // Settings after that line hold, and so do those known from elsewhere (line
  // 0). The unknown command may have set any other variable.
  return variable ? variable->line && variable->line < unknownFromLine
                  : unknownFromLine != 0;
}

PageSwitch mpg::pageSwitch(const Launch &launch, Target target) {
  bool isOurs = target == Target::mpg;
  auto findIf = [&](bool reads, StringRef name) {
    return reads ? launch.environment.find(name) : nullptr;
  };
  const Variable *type =
      findIf(isOurs || target == Target::fugaku, "XOS_MMM_L_HPAGE_TYPE");
  const Variable *mode = findIf(isOurs, "MPG_MODE");
  bool isUnknown = false;
  for (const Variable *variable : {type, mode}) {
    if (variable && variable->known && variable->value == "none")
      return PageSwitch::off;
    isUnknown |= variable && !variable->known;
  }
  return isUnknown ? PageSwitch::unknown : PageSwitch::on;
}

bool mpg::wantsLargePages(const Launch &launch, Target target) {
  return pageSwitch(launch, target) != PageSwitch::off;
}

bool mpg::asksForMorecore(const Launch &launch) {
  StringRef value = launch.environment.getValue("HUGETLB_MORECORE");
  return !value.empty() && value != "no";
}

std::optional<PagingPolicy> mpg::pagingPolicy(const Launch *launch,
                                              Target target) {
  PagingPolicy policy;
  if (!launch)
    return policy;
  const Environment &environment = launch->environment;
  if (!wantsLargePages(*launch, target))
    return std::nullopt;
  const Variable *variable = environment.find("XOS_MMM_L_PAGING_POLICY");
  if (!variable)
    return policy;
  if (!variable->known)
    return std::nullopt;
  SmallVector<StringRef, 4> words;
  StringRef(variable->value).split(words, ':');
  // libmpg takes the default for a value that it refuses.
  if (words.size() != 3 || any_of(words, [](StringRef word) {
        return word != "prepage" && word != "demand";
      }))
    return policy;
  policy.bssPrepaged = words[0] == "prepage";
  policy.stackPrepaged = words[1] == "prepage";
  policy.heapPrepaged = words[2] == "prepage";
  policy.text = variable->value;
  return policy;
}

bool mpg::dealsBssAtStart(const Launch &launch) {
  return launch.environment.getValue("MPG_FIRST_TOUCH") == "start";
}

PagingState mpg::pagingState(const Launch *launch, Target target) {
  PagingState state;
  state.off = launch && !wantsLargePages(*launch, target);
  std::optional<PagingPolicy> policy = pagingPolicy(launch, target);
  state.known =
      policy && !(launch && launch->mayChange("XOS_MMM_L_PAGING_POLICY"));
  state.policy = policy.value_or(PagingPolicy());
  return state;
}
