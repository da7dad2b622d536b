// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpg-ocl: writes the sector cache directives (!OCL) of Fortran sources as a
// side file for the compiler plugin. Here are only the command line, the files
// and the exit status; how directives are read is in lib/Ocl/OclReader.h.

#include "Ocl/OclReader.h"
#include "Support/Files.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Regex.h"

#include "OptionTable.inc"

using namespace llvm;
using namespace llvm::opt;
using namespace mpg;

namespace {

struct OclOptions {
  std::string output = "-"; ///< "-": standard output
  struct Source {
    std::string path;
    FortranOptions fortran;
  };
  std::vector<Source> sources;
  bool saysHonoured = false; ///< -Rpass=mpg
  bool saysNoEffect = false; ///< -Rpass-missed=mpg
  /// These are the arguments of flang, which reports what is wrong with them.
  bool forFlang = false;
};

} // namespace

static const ProgramText programText = {
    "mpg-ocl",
    "mpg-ocl [options] FILE...",
    "mpg-ocl writes the !OCL lines for the sector cache in Fortran sources as "
    "a side\nfile of hints; mpg-flang runs it. Lines for other purposes have "
    "no "
    "effect",
    "\nEXIT STATUS: 0 also when directives are wrong, which are reported and "
    "ignored;\n2 usage error, or a file cannot be read or written\n",
    2,
    "options",
    "{0} needs a value after it"};

/// Those of flang for AArch64 that sources ask for, and what the user defined
/// and undefined, in the order of the command line.
static void addMacros(const InputArgList &args, FortranOptions &options) {
  for (const char *name : {"__flang__", "__linux__", "__aarch64__"})
    options.macros.push_back({name, "1"});
  for (const Arg *arg : args.filtered(OPT_D, OPT_U)) {
    auto [name, value] = StringRef(arg->getValue()).split('=');
    bool hasValue = StringRef(arg->getValue()).contains('=');
    if (arg->getOption().matches(OPT_U))
      options.macros.push_back({name.str(), std::nullopt});
    else
      options.macros.push_back({name.str(), hasValue ? value.str() : "1"});
  }
}

/// The number after -ffixed-line-length=; nothing if it is not one.
static std::optional<unsigned> parseColumns(StringRef text) {
  unsigned columns;
  if (text == "none")
    return 0;
  if (text.getAsInteger(10, columns))
    return std::nullopt;
  return columns;
}

static FortranOptions fortranOptions(const InputArgList &args, StringRef path) {
  FortranOptions options;
  options.fixedForm = hasFixedForm(path);
  if (const Arg *arg = args.getLastArg(OPT_fixed_form, OPT_free_form))
    options.fixedForm = arg->getOption().matches(OPT_fixed_form);
  options.underscoring = !args.hasArg(OPT_no_underscoring);
  bool preprocessed = isPreprocessed(path);
  if (const Arg *arg = args.getLastArg(OPT_cpp, OPT_nocpp))
    preprocessed = arg->getOption().matches(OPT_cpp);
  if (preprocessed)
    addMacros(args, options);
  return options;
}

/// Whether the last \p option names our remarks; its value is a regular
/// expression.
static bool asksFor(const InputArgList &args, OptSpecifier option) {
  const Arg *arg = args.getLastArg(option);
  return arg && Regex(arg->getValue()).match("mpg");
}

/// Reads all that flang knows as well. A wrong number of columns is described
/// in \p problem.
static OclOptions readOptions(const InputArgList &args, std::string &problem) {
  OclOptions options;
  if (const Arg *arg = args.getLastArg(OPT_output))
    options.output = arg->getValue();
  options.saysHonoured = asksFor(args, OPT_Rpass);
  options.saysNoEffect = asksFor(args, OPT_Rpass_missed);
  std::optional<unsigned> columns;
  if (const Arg *arg = args.getLastArg(OPT_fixed_line_length)) {
    columns = parseColumns(arg->getValue());
    if (!columns)
      problem = "'" + printable(arg->getValue()) +
                "' of -ffixed-line-length= is no number of columns; write 72, "
                "132 or none";
  }
  for (const std::string &path : args.getAllArgValues(OPT_INPUT)) {
    options.sources.push_back({path, fortranOptions(args, path)});
    if (columns)
      options.sources.back().fortran.fixedLineLength = *columns;
  }
  return options;
}

static OclOptions readFlangOptions(const InputArgList &args) {
  std::string problem;
  OclOptions options = readOptions(args, problem);
  options.output = args.getLastArgValue(OPT_flang).str();
  options.forFlang = true;
  erase_if(options.sources, [](const OclOptions::Source &source) {
    return !hasFixedForm(source.path) && !hasFreeForm(source.path);
  });
  return options;
}

/// Parses the command line. Nothing when the program has said all it has to
/// say (--help, --version, a usage error); \p status is then the exit status.
static std::optional<OclOptions> parseOptions(int argc, char **argv,
                                              int &status) {
  OptionTable table;
  CommandLine line(table, programText, ArrayRef(argv + 1, size_t(argc - 1)));
  status = 0;
  if (line.args().hasArg(OPT_flang))
    return readFlangOptions(line.args());
  if (line.isAnswered(OPT_help, OPT_version, status))
    return std::nullopt;
  std::string problem;
  OclOptions options = readOptions(line.args(), problem);
  if (problem.empty() && options.sources.empty())
    problem = "no file is named; name Fortran sources";
  if (!problem.empty())
    return line.usageError(problem, status);
  return options;
}

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
