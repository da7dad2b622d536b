// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Audit/Launch.h"
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

StringRef Environment::valueOf(StringRef name) const {
  const Variable *variable = find(name);
  return variable && variable->known ? StringRef(variable->value) : "";
}

static auto smallParts(const Launch &launch) {
  return std::tie(launch.threads, launch.ranksPerNode, launch.stackBytes,
                  launch.sysroot, launch.unknownFromLine, launch.unknownFrom,
                  launch.underMpgrun, launch.uncertain);
}

bool mpg::operator==(const Launch &a, const Launch &b) {
  return smallParts(a) == smallParts(b) &&
         a.environment.all() == b.environment.all();
}

bool Launch::mayChange(StringRef name) const {
  const Variable *variable = environment.find(name);
  if (variable && !variable->known)
    return true;
  return variable ? variable->line && variable->line < unknownFromLine
                  : unknownFromLine != 0;
}
