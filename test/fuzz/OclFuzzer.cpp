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
  StringRef source(reinterpret_cast<const char *>(data + 1), size - 1);
  OclResult result = readOcl(source, options);
  unsigned lines = unsigned(source.count('\n')) + 1;
  for (const OclDiagnostic &diagnostic : result.diagnostics)
    if (diagnostic.place.line < 1 || diagnostic.place.line > lines ||
        diagnostic.place.column < 1)
      abort();
  for (const OclHint &hint : result.hints)
    if (hint.function.empty() || hint.value.empty() || hint.line < 1 ||
        hint.first > hint.last || hint.last > lines)
      abort();
  std::string text;
  raw_string_ostream out(text);
  writeOclDiagnostics(out, "a.f90", source, result.diagnostics);
  writeSideFile(out, "a.f90", result.hints);
  return 0;
}
