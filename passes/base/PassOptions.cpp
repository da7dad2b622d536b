// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PassOptions.h.

#include "base/PassOptions.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/DebugCounter.h"
#include <cstdlib>
#include <memory>
#include <tuple>

using namespace llvm;
using namespace mpg;

static constexpr StringLiteral optionsMetadata = "mpg.options";

static constexpr const char *firstTouchWords[] = {"off", "remark", "on",
                                                  "parallel-init"};
static constexpr const char *simulationWords[] = {"off", "on", "check"};
static constexpr const char *prefetchWords[] = {"off", "user", "far"};
static constexpr const char *zfillRules[] = {
    "",     "ahead", "calls",  "conditions", "distance",  "end",  "exits",
    "gaps", "reads", "scopes", "size",       "volatiles", "wraps"};

/// \p words are those of \p Enum's values, in their order.
template <typename Enum, size_t count>
static bool readWord(StringRef value, const char *const (&words)[count],
                     Enum &to) {
  const auto *word = find(words, value);
  if (word == std::end(words))
    return false;
  to = Enum(word - std::begin(words));
  return true;
}

template <auto flag> static bool readFlag(StringRef value, PassOptions &into) {
  into.*flag = value == "on";
  return value == "on" || value == "off";
}

static bool readLines(StringRef value, unsigned max, unsigned &lines) {
  return !value.getAsInteger(10, lines) && lines <= max;
}

bool mpg::readZfill(StringRef value, unsigned &lines) {
  if (value == "off" || value == "auto") {
    lines = value == "auto" ? zfillAuto : 0;
    return true;
  }
  return readLines(value, 100, lines) && lines;
}

static bool readSector(StringRef value, PassOptions &into) {
  into.autoSectors = value == "auto";
  into.userHints = value != "off";
  return value == "off" || value == "user" || value == "auto";
}

static bool readSeed(StringRef value, PassOptions &into) {
  return !value.getAsInteger(0, into.randomSeed.emplace());
}

static bool readHints(StringRef value, PassOptions &into) {
  into.hintFiles.push_back(value.str());
  return !value.empty();
}

static bool readTestPlace(StringRef value, PassOptions &into) {
  into.placeEarly |= value == "early";
  into.formGep |= value == "gep";
  return value == "early" || value == "gep";
}

static bool readTestZfill(StringRef value, PassOptions &into) {
  into.zfillAlways |= value == "always";
  return value == "always" || readWord(value, zfillRules, into.zfillBreaks);
}

namespace {
struct KnownOption {
  const char *name;
  const char *values; ///< for messages
  /// Whether \p value is one of them.
  bool (*read)(StringRef value, PassOptions &into);
};
} // namespace

static constexpr KnownOption knownOptions[] = {
    {"sector", "off, user or auto", readSector},
    {"verify", "off or on", readFlag<&PassOptions::verify>},
    {"extended", "off or on", readFlag<&PassOptions::extended>},
    {"strip-debug", "off or on", readFlag<&PassOptions::stripDebug>},
    {"random-hints", "a number", readSeed},
    {"hints", "the path of a YAML file", readHints},
    {"test-place", "early or gep", readTestPlace},
    {"first-touch", "off, remark, on or parallel-init",
     [](StringRef value, PassOptions &into) {
       return readWord(value, firstTouchWords, into.firstTouch);
     }},
    {"sim", "off, on or check",
     [](StringRef value, PassOptions &into) {
       return readWord(value, simulationWords, into.sim);
     }},
    {"zfill", "off, auto or a number of lines from 1 to 100",
     [](StringRef value, PassOptions &into) {
       return readZfill(value, into.zfill);
     }},
    {"test-zfill", "always or a rule to break", readTestZfill},
    {"prefetch", "off, user or far",
     [](StringRef value, PassOptions &into) {
       return readWord(value, prefetchWords, into.prefetch);
     }},
    {"prefetch-line", "a number of lines from 0 to 100",
     [](StringRef value, PassOptions &into) {
       return readLines(value, maxL1Lines, into.prefetchLines.l1);
     }},
    {"prefetch-line-l2", "a number of lines from 0 to 500",
     [](StringRef value, PassOptions &into) {
       return readLines(value, maxL2Lines, into.prefetchLines.l2);
     }},
    {"prefetch-indirect", "a number of iterations from 0 to 1000",
     [](StringRef value, PassOptions &into) {
       return readLines(value, maxIndirect, into.prefetchIndirect);
     }},
    {"stream-stores", "off or on", readFlag<&PassOptions::streamStores>},
    {"test-large", "always",
     [](StringRef value, PassOptions &into) {
       return into.largeAlways = value == "always";
     }},
};

static Error wrongValue(const KnownOption &option, StringRef value) {
  return createStringError(
      inconvertibleErrorCode(),
      "option %s=%s of mpgtools' passes: the value must be %s", option.name,
      value.str().c_str(), option.values);
}

Error mpg::parsePassOptions(StringRef text, PassOptions &into) {
  SmallVector<StringRef, 8> items;
  // Empty items are allowed: the text from -mllvm begins with a comma.
  text.split(items, ',', -1, /*KeepEmpty=*/false);
  for (StringRef item : items) {
    StringRef name, value;
    std::tie(name, value) = item.trim().split('=');
    const KnownOption *known = find_if(
        knownOptions, [&](const KnownOption &o) { return name == o.name; });
    if (known == std::end(knownOptions)) {
      std::string names;
      for (const KnownOption &option : knownOptions)
        names += (names.empty() ? "" : ", ") + std::string(option.name);
      return createStringError(inconvertibleErrorCode(),
                               "unknown option '%s' of mpgtools' passes; "
                               "known: %s",
                               name.str().c_str(), names.c_str());
    }
    if (!known->read(value, into))
      return wrongValue(*known, value);
  }
  return Error::success();
}

/// What -mllvm said, in the same form as the environment.
static std::string &commandLine() {
  static std::string text;
  return text;
}

using OptionList = std::vector<std::unique_ptr<cl::opt<std::string>>>;

static OptionList makeOptions() {
  static std::string names[std::size(knownOptions)];
  OptionList options;
  for (const KnownOption &option : knownOptions) {
    std::string &name = names[options.size()];
    name = std::string("mpg-") + option.name;
    options.push_back(std::make_unique<cl::opt<std::string>>(
        StringRef(name), cl::desc("mpgtools' passes"),
        cl::value_desc(option.values), cl::ZeroOrMore,
        cl::callback([&option](const std::string &value) {
          commandLine() += "," + std::string(option.name) + "=" + value;
        })));
  }
  return options;
}

void mpg::registerPassOptions() {
  // Not global: their constructors would run in a compiler of another version,
  // before it can refuse the plugin, and crash it. Static, because a link with
  // ThinLTO loads the plugin in several threads at once.
  static OptionList options = makeOptions();
}

Expected<PassOptions> mpg::readPassOptions() {
  PassOptions options;
  // The command line comes last, and so wins.
  const char *environment = getenv("MPG_PASS_OPTIONS");
  std::string text = (environment ? environment : "") + commandLine();
  if (Error error = parsePassOptions(text, options))
    return error;
  return options;
}

void mpg::storePassOptions(Module &module, const PassOptions &options) {
  // Omits the options that the reader of hints has used already.
  std::string text = options.autoSectors ? "sector=auto"
                     : options.userHints ? "sector=user"
                                         : "sector=off";
  if (options.verify)
    text += ",verify=on";
  if (options.stripDebug)
    text += ",strip-debug=on";
  if (options.placeEarly)
    text += ",test-place=early";
  if (options.formGep)
    text += ",test-place=gep";
  if (options.firstTouch != FirstTouch::on)
    text += std::string(",first-touch=") +
            firstTouchWords[unsigned(options.firstTouch)];
  if (options.zfill)
    text += ",zfill=" + (options.zfill == zfillAuto
                             ? std::string("auto")
                             : std::to_string(options.zfill));
  if (options.prefetch != Prefetch::off)
    text += std::string(",prefetch=") +
            prefetchWords[unsigned(options.prefetch)] +
            ",prefetch-line=" + std::to_string(options.prefetchLines.l1) +
            ",prefetch-line-l2=" + std::to_string(options.prefetchLines.l2);
  if (options.prefetchIndirect)
    text += ",prefetch-indirect=" + std::to_string(options.prefetchIndirect);
  if (options.streamStores)
    text += ",stream-stores=on";
  LLVMContext &context = module.getContext();
  NamedMDNode *node = module.getOrInsertNamedMetadata(optionsMetadata);
  node->clearOperands();
  node->addOperand(MDNode::get(context, MDString::get(context, text)));
}

PassOptions mpg::loadPassOptions(const Module &module) {
  PassOptions options;
  if (Expected<PassOptions> said = readPassOptions()) {
    static_cast<StepOptions &>(options) = *said;
  } else {
    consumeError(said.takeError()); // the first pass of a compile reports it
  }
  const NamedMDNode *node = module.getNamedMetadata(optionsMetadata);
  if (!node)
    return options;
  // Linked modules each bring theirs: the first one is read last.
  for (const MDNode *one : reverse(node->operands()))
    if (one->getNumOperands())
      if (auto *text = dyn_cast<MDString>(one->getOperand(0)))
        consumeError(parsePassOptions(text->getString(), options));
  return options;
}

static constexpr char counterName[] = "mpg-tag";
static constexpr char counterHelp[] = "Which accesses get a tag";

#if LLVM_VERSION_MAJOR >= 22
static DebugCounter::CounterInfo &counter() {
  static DebugCounter::CounterInfo info(counterName, counterHelp);
  return info;
}
#else
static unsigned counter() {
  static unsigned number =
      DebugCounter::registerCounter(counterName, counterHelp);
  return number;
}
#endif

void mpg::registerDebugCounters() { counter(); }
bool mpg::shouldTag() { return DebugCounter::shouldExecute(counter()); }
