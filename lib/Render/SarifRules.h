// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of Findings.def as rules of a SARIF log: what a viewer shows beside
// a result.

#ifndef MPG_RENDER_SARIFRULES_H
#define MPG_RENDER_SARIFRULES_H

#include "Audit/Fix.h"
#include "llvm/Support/JSON.h"

namespace mpg {

/// "note", "warning" or "error"; off is none.
llvm::StringRef sarifLevel(Severity severity);

/// One object for the array tool.driver.rules. The remedy names \p parts.
void writeSarifRule(llvm::json::OStream &json, const FindingInfo &info,
                    const InstalledParts &parts);

} // namespace mpg

#endif // MPG_RENDER_SARIFRULES_H
