// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A heat map as a picture inside of a page: rows of shares, the stronger the
// colour the more.

#ifndef MPG_PLOT_PLOTHEAT_H
#define MPG_PLOT_PLOTHEAT_H

#include <cstdint>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace mpg {

/// \p rows: percent, equally many in each, the first row on top. \p captionId:
/// of the text that describes it.
void writeHeatMap(llvm::raw_ostream &out,
                  const std::vector<std::vector<uint8_t>> &rows,
                  const std::string &captionId);
/// Its legend.
void writeHeatKeys(llvm::raw_ostream &out);

} // namespace mpg

#endif // MPG_PLOT_PLOTHEAT_H
