// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "base/Diagnostics.h"
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

/// Only what a message shows: copies of code by the optimiser differ in other
/// things, and their messages would be taken for different ones.
static DILocation *plainLocation(DILocation *at) {
  DILocalScope *scope = at->getScope()->getNonLexicalBlockFileScope();
  DISubprogram *function = scope->getSubprogram();
  // A block may be in a file that was included into the function.
  if (function && function->getFile() == at->getFile())
    scope = function;
  else
    scope = at->getScope();
  return DILocation::get(at->getContext(), at->getLine(), at->getColumn(),
                         scope);
}

DebugLoc mpg::userLocation(DebugLoc location) {
  for (DILocation *at = location.get(); at; at = at->getInlinedAt())
    if (!isSystemHeader(*at))
      return plainLocation(at);
  return location;
}

bool mpg::isUserCode(const DebugLoc &location) {
  return !location || !isSystemHeader(*location.get());
}
