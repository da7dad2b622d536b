// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The axes of one plot, with their lines and labels.

#ifndef MPG_BENCH_REPORT_PANELAXES_H
#define MPG_BENCH_REPORT_PANELAXES_H

#include "Bench/Report/PanelFrame.h"

namespace mpg {

void writePanelAxes(llvm::raw_ostream &out, const PanelDrawing &drawing,
                    const PanelFrame &frame);

} // namespace mpg

#endif // MPG_BENCH_REPORT_PANELAXES_H
