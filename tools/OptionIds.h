// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of one program as OPT_<name>, made out of what llvm-tblgen writes
// from its Options.td (mpg_add_tool).

#pragma once

#include "llvm/Option/OptTable.h"

namespace mpg {

enum OptionId {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "Options.inc"
#undef OPTION
};

} // namespace mpg
