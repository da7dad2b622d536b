// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Audit/Launch.h"

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

bool Launch::mayChange(StringRef name) const {
  const Variable *variable = environment.find(name);
  if (variable && !variable->known)
    return true;
  return variable ? variable->line && variable->line < unknownFromLine
                  : unknownFromLine != 0;
}
