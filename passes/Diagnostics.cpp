// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Diagnostics.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"

using namespace llvm;
using namespace mpg;

std::string SourceLine::text() const {
  return file.empty() ? "" : file + ":" + std::to_string(line) + ": ";
}

namespace {
class Diagnostic : public DiagnosticInfo {
public:
  Diagnostic(const Twine &text, DiagnosticSeverity severity)
      : DiagnosticInfo(kind(), severity), text(text.str()) {}
  void print(DiagnosticPrinter &printer) const override { printer << text; }

private:
  static int kind() {
    static int kind = getNextAvailablePluginDiagnosticKind();
    return kind;
  }
  std::string text;
};
} // namespace

void mpg::warn(LLVMContext &context, const SourceLine &where,
               const Twine &text) {
  context.diagnose(Diagnostic(where.text() + text, DS_Warning));
}

void mpg::fail(LLVMContext &context, const Twine &text) {
  context.diagnose(Diagnostic(text, DS_Error));
}

/// Debug information does not say which headers are the system's.
static bool isSystemHeader(StringRef file) {
  return file.starts_with("/usr/") || file.contains("/include/c++/") ||
         file.contains("/lib/clang/");
}

DebugLoc mpg::userLocation(DebugLoc location) {
  for (DILocation *at = location.get(); at; at = at->getInlinedAt())
    if (!isSystemHeader(at->getFilename()))
      return at;
  return location;
}
