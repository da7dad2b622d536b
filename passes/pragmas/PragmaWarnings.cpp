// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The warning group -Wmpg-pragmas. clang's groups are a fixed table, so this
// one reads the -W options itself. It acts as a part of -Wignored-pragmas:
// options and pragmas that switch that off switch these off. See PragmaLine.h.

#include "PragmaLine.h"
#include "clang/Basic/DiagnosticIDs.h"
#include "clang/Basic/DiagnosticParse.h"

using namespace clang;
using namespace mpg;

PragmaWarnings::PragmaWarnings(Preprocessor &pp, ArrayRef<std::string> options)
    : pp(pp) {
  for (StringRef option : pp.getDiagnostics().getDiagnosticOptions().Warnings)
    readOption(option);
  for (StringRef option : options)
    readOption(option);
}

void PragmaWarnings::readOption(StringRef option) {
  bool isNo = option.consume_front("no-");
  bool isErrorOption = option.consume_front("error=");
  if (option != "mpg-pragmas")
    return;
  if (isErrorOption)
    isError = !isNo;
  if (!isErrorOption || !isNo)
    isOn = !isNo;
}

bool PragmaWarnings::isOff(SourceLocation at) const {
  DiagnosticsEngine &diagnostics = pp.getDiagnostics();
  if (isOn && !diagnostics.getIgnoreAllWarnings() &&
      !pp.getSourceManager().isInSystemHeader(at))
    return !*isOn;
  // Any warning of the group shows the group's setting here.
  return diagnostics.isIgnored(diag::warn_pragma_expected_lparen, at);
}

/// Reports \p text. A module keeps the settings of all diagnostics that were
/// asked for, and a compiler that reads it would look for those of this plugin:
/// what goes on is reported past the settings.
static void report(Preprocessor &pp, DiagnosticsEngine::Level level,
                   SourceLocation at, StringRef text) {
  DiagnosticsEngine &diagnostics = pp.getDiagnostics();
  unsigned id = diagnostics.getCustomDiagID(level, "%0");
  if (level == DiagnosticsEngine::Error)
    diagnostics.Report(at, id) << text;
  else
    diagnostics.Report(StoredDiagnostic(
        level, id, text, FullSourceLoc(at, pp.getSourceManager()), {}, {}));
}

void PragmaWarnings::warn(PragmaUse &use, SourceLocation at,
                          const Twine &text) {
  bool isNew = !use.isReported;
  use.isReported = true;
  if (!isNew || isOff(at))
    return;
  // -Werror does not reach diagnostics without a group of clang's.
  bool isWrong = isError.value_or(pp.getDiagnostics().getWarningsAsErrors());
  report(pp, isWrong ? DiagnosticsEngine::Error : DiagnosticsEngine::Warning,
         at, (text + " [-Wmpg-pragmas]").str());
}

void PragmaWarnings::ignore(PragmaUse &use, SourceLocation at,
                            const Twine &text) {
  use.isWrong = true;
  warn(use, at, text + "; the directive is ignored");
}

void PragmaWarnings::ignoreToo(PragmaUse &use, const Twine &text) {
  use.isWrong = true;
  if (use.isReported || isOff(use.name))
    return;
  use.isReported = true;
  report(pp, DiagnosticsEngine::Note, use.name, text.str());
}
