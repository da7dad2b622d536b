// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the machine has the DC ZVA that a program is compiled for: the line
// of mpg_check_zero_fill (<mpg/pass.h>).

#pragma once

#include "base/Messages.h"

namespace mpg {

/// Without this call nothing is printed.
void startZeroFill(Messages &messages);

} // namespace mpg
