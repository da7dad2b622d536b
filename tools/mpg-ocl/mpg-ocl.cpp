// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpg-ocl: writes the sector cache directives (!OCL) of Fortran sources as a
// side file for the compiler plugin. Here are only the command line, the files
// and the exit status; how directives are read is in lib/Ocl/OclReader.h.

#include "Ocl/OclReader.h"
#include "Support/Files.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
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
  bool saysHints = false;    ///< -Rpass=mpg
  bool saysNoEffect = false; ///< -Rpass-missed=mpg
  /// These are the arguments of flang, which reports what is wrong with them.
  bool forFlang = false;
  StringRef whyUseless; ///< why no directive has an effect; empty: they have
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

/// The value of _OPENMP.
static StringRef openmpDate(StringRef version) {
  static constexpr std::pair<const char *, const char *> dates[] = {
      {"40", "201307"}, {"45", "201511"}, {"50", "201811"},
      {"51", "202011"}, {"52", "202111"}, {"60", "202411"}};
  for (auto [known, date] : dates)
    if (version == known)
      return date;
  return "201107";
}

/// Those of flang that sources ask for, and what the user defined and
/// undefined, in the order of the command line.
static void addMacros(const InputArgList &args, FortranOptions &options) {
  auto define = [&](const char *name, StringRef value) {
    options.macros.push_back({name, value.str()});
  };
  define("__flang__", "1");
  define("__flang_major__", utostr(LLVM_VERSION_MAJOR));
  define("__flang_minor__", utostr(LLVM_VERSION_MINOR));
  define("__flang_patchlevel__", utostr(LLVM_VERSION_PATCH));
  define("__linux__", "1");
  // Without a target: AArch64, for which the hints are.
  const Arg *target = args.getLastArg(OPT_target, OPT_target_word);
  bool isX86 = target && StringRef(target->getValue()).starts_with("x86_64");
  define(isX86 ? "__x86_64__" : "__aarch64__", "1");
  if (const Arg *arg =
          args.getLastArg(OPT_fopenmp, OPT_fopenmp_simd, OPT_fno_openmp))
    if (!arg->getOption().matches(OPT_fno_openmp))
      define("_OPENMP", openmpDate(args.getLastArgValue(OPT_fopenmp_version)));
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
  options.includeFolders = args.getAllArgValues(OPT_I);
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
  options.saysHints = asksFor(args, OPT_Rpass);
  options.saysNoEffect = asksFor(args, OPT_Rpass_missed);
  std::optional<unsigned> columns;
  if (const Arg *arg = args.getLastArg(OPT_fixed_line_length)) {
    columns = parseColumns(arg->getValue());
    if (!columns)
      problem =
          "'" + printable(arg->getValue()) +
          "' of -ffixed-line-length= is not a number of columns; write 72, "
          "132 or none";
  }
  for (const std::string &path : args.getAllArgValues(OPT_INPUT)) {
    options.sources.push_back({path, fortranOptions(args, path)});
    if (columns)
      options.sources.back().fortran.fixedLineLength = *columns;
  }
  return options;
}

/// Why no directive of flang's command line can have an effect: "at -O0".
static StringRef whyUseless(const InputArgList &args) {
  StringRef passOptions = getenv("MPG_PASS_OPTIONS");
  SmallVector<StringRef, 4> items;
  passOptions.split(items, ',');
  auto sector = find_if(reverse(items), [](StringRef item) {
    return item.starts_with("sector=");
  });
  if (sector != items.rend() && *sector == "sector=off")
    return "with sector=off";
  StringRef level = args.getLastArgValue(OPT_O, "0");
  return level == "0" ? "at -O0; compile with -O1 or more" : "";
}

/// Whether flang takes \p input for Fortran: by its suffix, or after -x f95.
static bool isFortran(const InputArgList &args, const Arg &input) {
  StringRef language;
  for (const Arg *arg : args.filtered(OPT_x))
    if (arg->getIndex() < input.getIndex())
      language = arg->getValue();
  if (!language.empty() && language != "none")
    return language.starts_with("f95");
  StringRef path = input.getValue();
  return hasFixedForm(path) || hasFreeForm(path);
}

static OclOptions readFlangOptions(const InputArgList &args) {
  std::string problem;
  OclOptions options = readOptions(args, problem);
  options.output = args.getLastArgValue(OPT_flang).str();
  options.forFlang = true;
  options.whyUseless = whyUseless(args);
  std::vector<OclOptions::Source> sources;
  size_t i = 0;
  for (const Arg *arg : args.filtered(OPT_INPUT)) {
    OclOptions::Source &source = options.sources[i++];
    // flang reports a source that cannot be read, and needs no hints for it.
    if (isFortran(args, *arg) && sys::fs::is_regular_file(source.path))
      sources.push_back(std::move(source));
  }
  options.sources = std::move(sources);
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
  SourceText text =
      readSourceText(source.path, (*buffer)->getBuffer(), source.fortran);
  OclResult result = readOcl(text, source.fortran, options.whyUseless);
  erase_if(result.diagnostics, [&](const OclDiagnostic &diagnostic) {
    switch (diagnostic.severity) {
    case OclSeverity::hint: // what becomes of it the plugin knows
      return !options.saysHints || options.forFlang;
    case OclSeverity::end:
      return !options.saysHints;
    case OclSeverity::noEffect:
      return !options.saysNoEffect;
    case OclSeverity::warning:
      return false;
    }
    return false;
  });
  writeOclDiagnostics(errs(), text, result.diagnostics);
  writeSideFile(out, text, result.hints);
  return true;
}

static bool writeText(const std::string &path, StringRef text) {
  std::error_code error =
      writeOutputFile(path, [&](raw_ostream &out) { out << text; });
  return !error || fail(path, "cannot write it", error);
}

static int writeHints(const OclOptions &options) {
  std::string hints;
  raw_string_ostream out(hints);
  bool isGood = true;
  for (const OclOptions::Source &source : options.sources)
    isGood &= readSource(source, options, out);
  // Half of the hints would be taken for all of them.
  return isGood && writeText(options.output, hints) ? 0 : 2;
}

/// The text of all sources; nothing if one cannot be read.
static std::optional<std::vector<SourceText>>
readSources(const OclOptions &options,
            std::vector<std::unique_ptr<MemoryBuffer>> &buffers) {
  std::vector<SourceText> sources;
  for (const OclOptions::Source &source : options.sources) {
    auto buffer = readUnmapped(source.path);
    if (!buffer)
      return fail(source.path, "cannot read it", buffer.getError()),
             std::nullopt;
    buffers.push_back(std::move(*buffer));
    sources.push_back(readSourceText(source.path, buffers.back()->getBuffer(),
                                     source.fortran));
  }
  return sources;
}

/// Says how many OCL lines a preprocessed text will lack, and why.
static void warnOfLostLines(ArrayRef<SourceText> sources, const char *why) {
  for (const SourceText &source : sources) {
    auto lost = count_if(source.lines, [&](const TextLine &line) {
      return findOcl(line.text, source.fixedForm) != StringRef::npos;
    });
    if (lost)
      errs() << "mpg-flang: warning: " << printable(source.path) << ": "
             << (lost == 1 ? "its !OCL line is"
                           : "its " + utostr(lost) + " !OCL lines are")
             << " lost: " << why << "\n";
  }
}

/// --flang-text=: the sources are those of the command line of flang -E.
static int addOclLines(const InputArgList &args) {
  OclOptions options = readFlangOptions(args);
  std::string output = args.getLastArgValue(OPT_output, "-").str();
  std::string path = args.getLastArgValue(OPT_flang_text).str();
  if (path.empty() && output == "-")
    return 0; // without text
  auto text = readUnmapped(path.empty() ? output : path);
  if (!text)
    return fail(path, "cannot read it", text.getError()), 2;
  std::vector<std::unique_ptr<MemoryBuffer>> buffers;
  auto sources = readSources(options, buffers);
  if (!sources)
    return 2;
  std::string result = (*text)->getBuffer().str();
  if (args.hasArg(OPT_P)) {
    warnOfLostLines(*sources, "with -P nothing says where they belong; leave "
                              "it out");
  } else {
    result.clear();
    raw_string_ostream out(result);
    writeWithOclLines(out, (*text)->getBuffer(), *sources);
  }
  return writeText(output, result) ? 0 : 2;
}

/// \returns the exit status.
static int run(ArrayRef<const char *> words) {
  OptionTable table;
  CommandLine line(table, programText, words);
  if (line.args().hasArg(OPT_flang_text))
    return addOclLines(line.args());
  if (line.args().hasArg(OPT_flang)) {
    OclOptions options = readFlangOptions(line.args());
    if (!line.args().hasArg(OPT_E))
      return writeHints(options);
    std::vector<std::unique_ptr<MemoryBuffer>> buffers;
    if (auto sources = readSources(options, buffers))
      warnOfLostLines(*sources, "mpg-flang sees no -E that is in a file of "
                                "arguments; write it on the command line");
    return 0;
  }
  int status = 0;
  if (line.isAnswered(OPT_help, OPT_version, status))
    return status;
  std::string problem;
  OclOptions options = readOptions(line.args(), problem);
  if (problem.empty() && options.sources.empty())
    problem = "no file is named; name Fortran sources";
  if (!problem.empty()) {
    line.usageError(problem, status);
    return status;
  }
  return writeHints(options);
}

int main(int argc, char **argv) {
  BumpPtrAllocator allocator;
  StringSaver saver(allocator);
  SmallVector<const char *, 16> words(argv + 1, argv + argc);
  cl::ExpandResponseFiles(saver, cl::TokenizeGNUCommandLine, words);
  int status = run(words);
  outs().flush();
  // A closed or full standard output or error loses messages, not the status.
  outs().clear_error();
  errs().clear_error();
  return status;
}
