// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "base/DebugCounters.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/DebugCounter.h"

using namespace llvm;

static constexpr char name[] = "mpg-tag";
static constexpr char help[] = "Which accesses get a tag";

#if LLVM_VERSION_MAJOR >= 22
static DebugCounter::CounterInfo &counter() {
  static DebugCounter::CounterInfo info(name, help);
  return info;
}
#else
static unsigned counter() {
  static unsigned number = DebugCounter::registerCounter(name, help);
  return number;
}
#endif

void mpg::registerDebugCounters() { counter(); }
bool mpg::shouldTag() { return DebugCounter::shouldExecute(counter()); }
