// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LinkContext.h.

#include "LinkContext.h"

using namespace llvm;
using namespace mpg;

raw_ostream &mpg::error() { return errs() << "ld.mpg: error: "; }
raw_ostream &mpg::warning() { return errs() << "ld.mpg: warning: "; }
raw_ostream &mpg::note() { return errs() << "ld.mpg: note: "; }

int mpg::failed(Error reason) {
  error() << toString(std::move(reason)) << "\n";
  return 1;
}
