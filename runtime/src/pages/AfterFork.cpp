// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "pages/AfterFork.h"

using namespace mpg;

static bool isChild, isClosed;

bool mpg::isForkedChild() { return isChild; }
void mpg::becomeForkedChild() { isChild = true; }

bool mpg::poolIsOpen() { return !__atomic_load_n(&isClosed, __ATOMIC_RELAXED); }
void mpg::closePool() { __atomic_store_n(&isClosed, true, __ATOMIC_RELAXED); }
