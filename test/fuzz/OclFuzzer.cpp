// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reader of !OCL lines on any bytes; the first byte chooses the source
// form. Beyond not crashing: every warning has a place within the source, and
// every hint is for a named function and lines in order.

#include "Ocl/OclReader.h"
#include <cstdlib>

using namespace llvm;
using namespace mpg;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!size)
    return 0;
  FortranOptions options;
  options.fixedForm = data[0] & 1;
  options.underscoring = data[0] & 2;
  options.fixedLineLength = data[0] & 4 ? 0 : 72;
  options.macros.push_back({"A", "1"});
  StringRef text(reinterpret_cast<const char *>(data + 1), size - 1);
  SourceText source = readSourceText("a.f90", text, options);
  OclResult result = readOcl(source, options);
  size_t lines = source.lines.size();
  for (const OclDiagnostic &diagnostic : result.diagnostics)
    if (diagnostic.place.line < 1 || diagnostic.place.line > lines ||
        diagnostic.place.column < 1)
      abort();
  for (const OclHint &hint : result.hints) {
    if (hint.function.empty() || hint.value.empty() || hint.place.line < 1 ||
        hint.place.line > lines)
      abort();
    for (auto [first, last] : hint.lines)
      if (first > last || first < 1)
        abort();
  }
  std::string written;
  raw_string_ostream out(written);
  writeOclDiagnostics(out, source, result.diagnostics);
  writeSideFile(out, source, result.hints);
  writeWithOclLines(out, text, source);
  return 0;
}
