// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of ld.mpg; see DriverArgs.h.

#include "Link/DriverArgs.h"
#include "Elf/Image.h"
#include "Support/Format.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace llvm;
using namespace mpg;

namespace {

/// An option, or an input, of ld.lld. lld does not export its option table, so
/// the options whose values could be mistaken for inputs are listed here; one
/// that is missing can at worst make ld.mpg guess the size of the data wrong,
/// which costs a second link, never a wrong result.
struct LldOption {
  llvm::StringRef name; ///< without dashes; empty for an input
  llvm::StringRef value;
  bool doubleDash = false;
  bool lacksValue = false; ///< the command line ends before it
};

} // namespace

// Options of ld.lld 22 that take their value from the next argument. Those
// with one letter take it from the same argument too ("-ofile").
static constexpr StringLiteral anyDashValues =
    "Map Tbss Tdata Ttext Ttext-segment auxiliary call-graph-ordering-file "
    "compress-debug-sections defsym dynamic-linker dynamic-list entry "
    "exclude-libs filter fini format hash-style init just-symbols keep-unique "
    "library library-path mllvm orphan-handling plugin plugin-opt "
    "print-symbol-order retain-symbols-file rpath script section-start soname "
    "sort-section split-stack-adjust-size sysroot target2 trace-symbol "
    "undefined unresolved-symbols version-script wrap";
static constexpr StringLiteral doubleDashValues =
    "chroot compress-sections default-script dependency-file "
    "error-handling-script error-limit export-dynamic-symbol "
    "export-dynamic-symbol-list image-base in-implib irpgo-profile "
    "load-pass-plugin lto-known-safe-vtables oformat opt-remarks-filename "
    "opt-remarks-format opt-remarks-hotness-threshold opt-remarks-passes "
    "out-implib output pack-dyn-relocs remap-inputs reproduce rsp-quoting "
    "shuffle-sections symbol-ordering-file thinlto-cache-policy "
    "thinlto-distributor-arg threads time-trace-granularity undefined-glob "
    "warn-backrefs-exclude why-live";
// "-ofile", "-o file". After two dashes a letter is not an option.
static constexpr StringRef letterValues = "LORTbefFhlmouyz";
// Long options that one dash may precede although they begin with such a
// letter.
static constexpr StringLiteral longWithOneDash =
    "eh-frame-hdr emit-relocs enable-new-dtags end-group end-lib "
    "error-unresolved-symbols export-dynamic fatal-warnings "
    "fix-cortex-a53-843419 fix-cortex-a8 help merge-exidx-entries unique dT";

/// The option at position \p at, with its value wherever that stands; \p at
/// is then after both. pre: \p at is inside of \p args.
static LldOption nextLldOption(ArrayRef<const char *> args, size_t &at) {
  StringRef arg = args[at++];
  LldOption option;
  if (!arg.starts_with("-") || arg == "-") {
    option.value = arg;
    return option;
  }
  option.doubleDash = arg.starts_with("--");
  StringRef name = arg.drop_front(option.doubleDash ? 2 : 1);
  auto consumeNext = [&] {
    option.lacksValue = at == args.size();
    return option.lacksValue ? "" : args[at++];
  };
  // Long names before letters: "-library" is not -l with "ibrary".
  auto [before, after] = name.split('=');
  if (hasWord(anyDashValues, before) ||
      (option.doubleDash && hasWord(doubleDashValues, before))) {
    option.name = before;
    option.value = before.size() < name.size() ? after : consumeNext();
    return option;
  }
  bool isLetter = !option.doubleDash && !name.empty() &&
                  letterValues.contains(name[0]) &&
                  !hasWord(longWithOneDash, name);
  if (!isLetter) {
    option.name = name;
    if (name == "dT")
      option.value = consumeNext();
    return option;
  }
  option.name = name.take_front(1);
  option.value = name.size() > 1 ? name.drop_front(1) : consumeNext();
  return option;
}

static constexpr StringRef ownOptions[] = {
    "--mpg-huge=",    "--mpg-layout=", "--mpg-min=",
    "--mpg-runtime=", "--mpg-text",    "--no-mpg-layout"};

StringRef mpg::ownHelp() {
  return "ld.mpg: lld with the large page layout of .data and .bss\n"
         "\n"
         "  --mpg-huge=SIZE         large page: 2M (default), 32M, 512M or 1G\n"
         "  --mpg-layout=strict     an output that is not laid out as promised "
         "is an\n"
         "                          error (default)\n"
         "  --mpg-layout=best-effort  ... is a warning\n"
         "  --mpg-min=BYTES         skip the layout below so much .data and "
         ".bss\n"
         "                          (default 2M; 0: never)\n"
         "  --mpg-runtime=auto      link libmpg if it is installed beside "
         "ld.mpg (default)\n"
         "  --mpg-runtime=yes|no    ... always; never\n"
         "  --mpg-text              code and constants on borders of large "
         "pages, too\n"
         "  --no-mpg-layout         link as ld.lld does\n"
         "\n";
}

std::string mpg::completeOwnOption(StringRef typed) {
  std::string lines;
  for (StringRef line : split(ownHelp(), '\n')) {
    // The text of --help is the table: names, and words with bars between.
    if (!line.consume_front("  --"))
      continue;
    auto [name, value] = line.take_until(isSpace).split('=');
    bool isListed = !value.empty() && isLower(value.front());
    for (StringRef one : split((isListed ? value : ""), '|')) {
      std::string word = ("--" + name + (value.empty() ? "" : "=") + one).str();
      if (StringRef(word).starts_with(typed))
        lines += word + "\n";
    }
  }
  return lines;
}

namespace {

/// Walks over the arguments; take*() are the readers of one kind of option.
class ArgParser {
public:
  explicit ArgParser(ArrayRef<const char *> args) : args(args) {}
  Expected<LinkRequest> parse();

private:
  Error parseOwn(StringRef arg);
  Error parseSize(StringRef option, StringRef text, uint64_t &bytes);
  void parseOption(const LldOption &option);
  void addInput(StringRef name, bool isLibrary);
  void parseZ(StringRef keyword);
  void addPositional(const LldOption &option);
  void parseLayoutOption(const LldOption &option);
  void decideOutput();
  void allowUndefinedVersions();
  void dropLoader();

  ArrayRef<const char *> args;
  size_t at = 1;
  LinkRequest request;
  bool isStatic = false, wasStatic = false;
  std::vector<bool> savedStatic; ///< --push-state
  /// The last word on --dynamic-linker; "" for --no-dynamic-linker.
  std::optional<StringRef> loader;
  bool relocatable = false, shared = false, notElf = false, isPie = false;
  bool hasVersionScript = false, decidesVersions = false;
};

} // namespace

template <typename... Parts> static Error failure(const Parts &...parts) {
  std::string text;
  ((text += parts), ...);
  return createStringError(inconvertibleErrorCode(), text);
}

static Error unknownOption(StringRef arg) {
  StringRef name = arg.take_until([](char c) { return c == '='; });
  StringRef nearest;
  // Farther away than half of its letters it is another word.
  unsigned best = unsigned(name.size()) / 2 + 1;
  for (StringRef option : ownOptions) {
    unsigned distance = name.edit_distance(option.rtrim('='));
    if (distance < best) {
      best = distance;
      nearest = option;
    }
  }
  std::string text = "unknown option '" + printable(arg) + "'";
  if (!nearest.empty())
    return failure(text, ", did you mean '", nearest.str(), "'?");
  return failure(text, "; ld.mpg's own options are in --help");
}

Error ArgParser::parseSize(StringRef option, StringRef text, uint64_t &bytes) {
  std::optional<uint64_t> value = parseBytes(text);
  if (!value)
    return failure(option.str(), printable(text),
                   ": not a number of bytes; write 2097152 or 2M");
  bytes = *value;
  return Error::success();
}

Error ArgParser::parseOwn(StringRef arg) {
  StringRef value = arg;
  if (arg == "--no-mpg-layout") {
    request.layout = false;
  } else if (arg == "--mpg-text") {
    request.text = true;
  } else if (arg.starts_with("--mpg-linker=")) {
    // From mpg.specs, for other linkers to stumble over.
  } else if (value.consume_front("--mpg-huge=")) {
    if (Error error = parseSize("--mpg-huge=", value, request.hugeBytes))
      return error;
    uint64_t mebibytes = request.hugeBytes >> 20;
    if (request.hugeBytes % (1 << 20) != 0 ||
        !is_contained({2, 32, 512, 1024}, mebibytes))
      return failure("--mpg-huge=", printable(value),
                     ": no large page has this size; it is a power of two, "
                     "one of 2M, 32M, 512M and 1G");
  } else if (value.consume_front("--mpg-min=")) {
    return parseSize("--mpg-min=", value, request.minBytes);
  } else if (value.consume_front("--mpg-layout=")) {
    if (value != "strict" && value != "best-effort")
      return failure("--mpg-layout=", printable(value),
                     ": has to be strict or best-effort");
    request.promise =
        value == "strict" ? LayoutPromise::strict : LayoutPromise::bestEffort;
    request.promiseGiven = true;
  } else if (value.consume_front("--mpg-runtime=")) {
    if (value != "auto" && value != "yes" && value != "no")
      return failure("--mpg-runtime=", printable(value),
                     ": has to be auto, yes or no");
    request.runtime = value == "auto"  ? RuntimeChoice::automatic
                      : value == "yes" ? RuntimeChoice::yes
                                       : RuntimeChoice::no;
  } else {
    return unknownOption(arg);
  }
  return Error::success();
}

/// Fujitsu's, or the one of these tools: of -l, or of a file without its "lib".
static bool isRuntimeName(StringRef name) {
  return name == "mpg" || name == "mpgrt";
}

void ArgParser::addInput(StringRef name, bool isLibrary) {
  if (isLibrary && isRuntimeName(name)) {
    request.hasRuntime = true;
    request.runtimeName = name.str();
  }
  if (!isLibrary) {
    size_t slash = name.rfind('/');
    StringRef file = slash == StringRef::npos ? name : name.substr(slash + 1);
    // libmpgrt.a, libmpgrt.so, libmpgrt.so.1
    auto [stem, ending] = file.split('.');
    if (stem.consume_front("lib") && isRuntimeName(stem) &&
        (ending == "a" || ending.starts_with("so")))
      request.hasRuntime = true;
  }
  request.inputs.push_back({name.str(), isLibrary, isStatic});
}

void ArgParser::parseZ(StringRef keyword) {
  if (hasWord("execstack noexecstack nognustack", keyword))
    request.execStack = keyword == "execstack";
  if (!keyword.consume_front("max-page-size="))
    return;
  uint64_t bytes;
  if (!keyword.getAsInteger(0, bytes))
    request.maxPageBytes = bytes;
}

/// Options that hold from where they stand, or of which the last one counts.
void ArgParser::addPositional(const LldOption &option) {
  StringRef name = option.name;
  if (hasWord("static Bstatic dn non_shared", name)) {
    isStatic = wasStatic = true;
  } else if (hasWord("Bdynamic dy call_shared", name)) {
    isStatic = false;
  } else if (name == "push-state") {
    savedStatic.push_back(isStatic);
  } else if (name == "pop-state" && !savedStatic.empty()) {
    isStatic = savedStatic.back();
    savedStatic.pop_back();
  } else if (name == "dynamic-linker" || name == "no-dynamic-linker") {
    loader = option.value;
  }
}

/// Options that make lld write something other than an ELF file of the inputs.
static bool isForOtherOutput(StringRef name, StringRef value) {
  if (name == "plugin-opt") { // the spelling of gcc and of LLVM's gold plugin
    name = value;
    return name == "emit-asm" || name == "emit-llvm" ||
           name.starts_with("thinlto-index-only");
  }
  // With --chroot lld would look for our objects somewhere else.
  return hasWord("version chroot lto-emit-asm lto-emit-llvm", name) ||
         name.starts_with("thinlto-index-only") ||
         (name == "oformat" && value == "binary");
}

/// Options that decide what kind of output there is and who lays it out.
void ArgParser::parseLayoutOption(const LldOption &option) {
  StringRef name = option.name;
  if (name == "T" || name == "script")
    request.userScript = "-T " + option.value.str();
  else if (name == "default-script" || name == "dT")
    request.userScript = "--default-script=" + option.value.str();
  else if (name == "v" || name == "verbose")
    request.verbose = true;
  else if (name == "symbol-ordering-file" || name == "call-graph-ordering-file")
    request.ordersText = true;
  else if (name == "r" || name == "relocatable")
    relocatable = true;
  else if (name == "shared" || name == "Bshareable")
    shared = true;
  else if (hasWord("pie pic-executable no-pie no-pic-executable", name))
    isPie = name.starts_with("pi");
  else if (isForOtherOutput(name, option.value))
    notElf = true;
  // lld says so; something that we add would become the value.
  notElf |= option.lacksValue;
}

void ArgParser::parseOption(const LldOption &option) {
  StringRef name = option.name;
  if (name.empty())
    return addInput(option.value, /*isLibrary=*/false);
  if (name == "l" || name == "library")
    return addInput(option.value, /*isLibrary=*/true);
  if (name == "L" || name == "library-path")
    request.searchPaths.push_back(option.value.str());
  else if (name == "o" || name == "output")
    request.outputPath = option.value.empty() ? "a.out" : option.value.str();
  else if (name == "m")
    request.emulation = option.value.str();
  else if (name == "z")
    parseZ(option.value);
  else if (name == "sysroot")
    request.sysroot = option.value.str();
  else if (name == "dependency-file")
    request.dependencyFile = option.value.str();
  else if (name == "format" || name == "b")
    request.hasFormat = true;
  else if (name == "load-pass-plugin")
    request.passPlugins.push_back(option.value.str());
  else if (name == "fat-lto-objects" || name == "no-fat-lto-objects")
    request.fatLto = name == "fat-lto-objects";
  else if (name == "help")
    request.help = true;
  else if (name == "version")
    request.version = true;
  else if (name == "version-script")
    hasVersionScript = true;
  else if (name == "undefined-version" || name == "no-undefined-version")
    decidesVersions = true;
  addPositional(option);
  parseLayoutOption(option);
}

void ArgParser::decideOutput() {
  // "-static-pie ... -Bdynamic", as rustc has it: what -B says is how libraries
  // are searched for; without a loader nothing shared can be loaded.
  bool hasLoader = loader ? !loader->empty() : !wasStatic;
  request.isStatic = isStatic || !hasLoader;
  request.isForMusl = loader && isMuslLoader(*loader);
  if (relocatable || notElf || request.help || request.inputs.empty())
    request.output = OutputKind::other;
  else if (shared)
    request.output = OutputKind::library;
}

/// As GNU ld does, in whose place we mostly stand: lld fails if a version
/// script names a symbol that is not there. zlib's configure takes that for a
/// machine without shared libraries.
void ArgParser::allowUndefinedVersions() {
  if (request.layout && hasVersionScript && !decidesVersions)
    request.lldArgs.push_back("--undefined-version");
}

/// As GNU ld does: `musl-gcc -static` names a loader, which would load the
/// static program as a dynamic one and crash. A PIE is relocated by its loader.
void ArgParser::dropLoader() {
  bool isLoaded = any_of(request.inputs, [](const LinkInput &input) {
    StringRef file = input.name;
    return input.isLibrary ? !input.staticOnly
                           : file.ends_with(".so") || file.contains(".so.");
  });
  if (request.layout && request.output == OutputKind::program && wasStatic &&
      !isPie && !isLoaded && loader && !loader->empty())
    request.lldArgs.push_back("--no-dynamic-linker");
}

Expected<LinkRequest> ArgParser::parse() {
  request.lldArgs.push_back("ld.lld");
  while (at < args.size()) {
    StringRef arg = args[at];
    // One dash would be lld's -m with the emulation "pg-huge=2M".
    if (arg.starts_with("--mpg-") || arg.starts_with("-mpg-") ||
        arg.starts_with("--no-mpg") || arg.starts_with("-no-mpg")) {
      if (Error error = parseOwn(arg))
        return error;
      ++at;
      continue;
    }
    size_t from = at;
    parseOption(nextLldOption(args, at));
    for (; from < at; ++from)
      request.lldArgs.push_back(args[from]);
  }
  decideOutput();
  allowUndefinedVersions();
  dropLoader();
  if (request.layout && request.output != OutputKind::other &&
      !request.userScript.empty() && request.promiseGiven &&
      request.promise == LayoutPromise::strict)
    return failure("'", printable(request.userScript),
                   "' decides the layout, so --mpg-layout=strict cannot be "
                   "promised; leave one of them out, or use "
                   "--mpg-layout=best-effort");
  return std::move(request);
}

Expected<LinkRequest> mpg::parseLinkArgs(ArrayRef<const char *> args) {
  return ArgParser(args).parse();
}

std::optional<Machine> mpg::machineOfEmulation(StringRef emulation) {
  // FreeBSD's names; the layout is the same.
  emulation.consume_back("_fbsd");
  if (emulation == "elf_x86_64" || emulation == "elf_amd64")
    return Machine::x86_64;
  if (emulation == "aarch64elf" || emulation == "aarch64linux")
    return Machine::aarch64;
  return std::nullopt;
}

bool mpg::hasOwnPassPlugin(ArrayRef<std::string> plugins) {
  return any_of(plugins, [](StringRef path) {
    return path.consume_back(passPluginFile) &&
           (path.empty() || path.ends_with("/"));
  });
}
