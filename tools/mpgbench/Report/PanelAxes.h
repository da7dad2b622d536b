// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The axes of one plot, with their lines and labels.

#ifndef MPG_TOOLS_MPGBENCH_REPORT_PANELAXES_H
#define MPG_TOOLS_MPGBENCH_REPORT_PANELAXES_H

#include "mpgbench/Report/PanelFrame.h"

namespace mpg {

void writePanelAxes(llvm::raw_ostream &out, const PanelDrawing &drawing,
                    const PanelFrame &frame);

} // namespace mpg

#endif // MPG_TOOLS_MPGBENCH_REPORT_PANELAXES_H
