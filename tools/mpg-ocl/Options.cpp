// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Options.h.

#include "Options.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Regex.h"

#include "OptionTable.inc"

using namespace llvm;
using namespace llvm::opt;
using namespace mpg;

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
    "{0} needs a value behind it"};

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

/// The number behind -ffixed-line-length=; nothing if it is none.
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

std::optional<OclOptions> mpg::parseOptions(int argc, char **argv,
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
