// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpg-ocl: writes the sector cache directives (!OCL) of Fortran sources as a
// side file for the compiler plugin. Here are only the command line, the files
// and the exit status; how directives are read is in lib/Ocl/OclReader.h.

#include "Ocl/OclReader.h"
#include "Options.h"
#include "Support/Format.h"
#include "Support/ReadFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace mpg;

static bool fail(StringRef path, const char *what, std::error_code error) {
  errs() << "mpg-ocl: error: " << printable(path) << ": " << what << ": "
         << error.message() << "\n";
  return false;
}

/// Writes the hints of one file; false if it cannot be read.
static bool readSource(const OclOptions::Source &source,
                       const OclOptions &options, raw_ostream &out) {
  auto buffer = readUnmapped(source.path);
  if (!buffer)
    return fail(source.path, "cannot read it", buffer.getError());
  StringRef text = (*buffer)->getBuffer();
  OclResult result = readOcl(text, source.fortran);
  erase_if(result.diagnostics, [&](const OclDiagnostic &diagnostic) {
    return (diagnostic.severity == OclSeverity::honoured &&
            !options.saysHonoured) ||
           (diagnostic.severity == OclSeverity::noEffect &&
            !options.saysNoEffect);
  });
  writeOclDiagnostics(errs(), source.path, text, result.diagnostics);
  writeSideFile(out, source.path, result.hints);
  return true;
}

static bool writeHints(const std::string &path, StringRef hints) {
  std::error_code error;
  raw_fd_ostream out(path, error, sys::fs::OF_None);
  if (error)
    return fail(path, "cannot write it", error);
  out << hints;
  out.flush();
  error = out.error();
  out.clear_error();
  return !error || fail(path, "cannot write it", error);
}

static int run(const OclOptions &options) {
  std::string hints;
  raw_string_ostream out(hints);
  bool isGood = true;
  for (const OclOptions::Source &source : options.sources) {
    // flang says it, and does not come to need the hints.
    if (options.forFlang && !sys::fs::is_regular_file(source.path))
      continue;
    isGood &= readSource(source, options, out);
  }
  // Half of the hints would be taken for all of them.
  return isGood && writeHints(options.output, hints) ? 0 : 2;
}

int main(int argc, char **argv) {
  int status = 0;
  if (std::optional<OclOptions> options = parseOptions(argc, argv, status))
    status = run(*options);
  outs().flush();
  // A closed or full standard output or error loses messages, not the status.
  outs().clear_error();
  errs().clear_error();
  return status;
}
