// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Diagnostics.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/Path.h"

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
static bool isSystemHeader(const DILocation &location) {
  // Clang cuts off what the file and the current folder have in common.
  SmallString<128> path(location.getDirectory());
  if (sys::path::is_absolute(location.getFilename()))
    path.clear();
  sys::path::append(path, location.getFilename());
  StringRef file = path;
  return file.starts_with("/usr/include/") || file.starts_with("/usr/lib/") ||
         file.contains("/include/c++/") || file.contains("/lib/clang/");
}

DebugLoc mpg::userLocation(DebugLoc location) {
  for (DILocation *at = location.get(); at; at = at->getInlinedAt())
    if (!isSystemHeader(*at))
      return at;
  return location;
}

bool mpg::isUserCode(const DebugLoc &location) {
  return !location || !isSystemHeader(*location.get());
}
