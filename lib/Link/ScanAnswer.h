// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A ScanResult as text, for the way from one process to another.

#ifndef MPG_LINK_SCANANSWER_H
#define MPG_LINK_SCANANSWER_H

#include "Link/InputScan.h"

namespace mpg {

/// All but slimObjects, which scanFiles() does not know.
std::string writeScanResult(const ScanResult &result);
ScanResult readScanResult(llvm::StringRef text);

} // namespace mpg

#endif // MPG_LINK_SCANANSWER_H
