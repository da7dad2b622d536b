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

namespace {
struct OptionName {
  const char *name;
  const char *values; ///< for messages
};
} // namespace

static constexpr OptionName optionNames[] = {
    {"sector", "off, user or auto"},
    {"verify", "off or on"},
    {"extended", "off or on"},
    {"strip-debug", "off or on"},
    {"random-hints", "a number"},
    {"hints", "the path of a YAML file"},
    {"test-place", "early or gep"},
    {"first-touch", "off, remark, on or parallel-init"},
    {"sim", "off, on or check"},
    {"zfill", "off, auto or a number of lines from 1 to 100"},
    {"test-zfill", "always or a rule to break"},
    {"prefetch", "off, user or far"},
    {"prefetch-line", "a number of lines from 0 to 100"},
    {"prefetch-line-l2", "a number of lines from 0 to 500"},
    {"prefetch-indirect", "a number of iterations from 0 to 1000"},
    {"stream-stores", "off or on"},
    {"test-stream", "always"},
};

static Error wrongValue(const OptionName &option, StringRef value) {
  return createStringError(
      inconvertibleErrorCode(),
      "option %s=%s of mpgtools' passes: the value must be %s", option.name,
      value.str().c_str(), option.values);
}

/// Sets \p flag to whether \p value is \p yes; \p no is the other word.
static bool readFlag(StringRef value, StringRef no, StringRef yes, bool &flag) {
  if (value != no && value != yes)
    return false;
  flag = value == yes;
  return true;
}

namespace {
struct FirstTouchWord {
  const char *word;
  FirstTouch mode;
};
} // namespace

static constexpr FirstTouchWord firstTouchWords[] = {
    {"off", FirstTouch::off},
    {"remark", FirstTouch::remark},
    {"on", FirstTouch::on},
    {"parallel-init", FirstTouch::parallelInit},
};

static bool readFirstTouch(StringRef value, FirstTouch &mode) {
  for (const FirstTouchWord &known : firstTouchWords)
    if (value == known.word) {
      mode = known.mode;
      return true;
    }
  return false;
}

bool mpg::readZfill(StringRef value, unsigned &lines) {
  if (value == "off" || value == "auto") {
    lines = value == "auto" ? zfillAuto : 0;
    return true;
  }
  return !value.getAsInteger(10, lines) && lines >= 1 && lines <= 100;
}

static constexpr const char *prefetchWords[] = {"off", "user", "far"};

static bool readPrefetch(StringRef value, Prefetch &mode) {
  const auto *word = find(prefetchWords, value);
  mode = Prefetch(word - std::begin(prefetchWords));
  return word != std::end(prefetchWords);
}

static bool readLines(StringRef value, unsigned max, unsigned &lines) {
  return !value.getAsInteger(10, lines) && lines <= max;
}

/// In the order of ZfillRule.
static constexpr const char *zfillRules[] = {
    "",     "ahead", "calls",  "conditions", "distance",  "end",  "exits",
    "gaps", "reads", "scopes", "size",       "volatiles", "wraps"};

static bool readZfillTest(StringRef value, PassOptions &into) {
  const auto *rule = find(zfillRules, value);
  if (value == "always")
    into.zfillAlways = true;
  else if (rule != std::end(zfillRules))
    into.zfillBreaks = ZfillRule(rule - std::begin(zfillRules));
  else
    return false;
  return true;
}

static bool setOption(StringRef name, StringRef value, PassOptions &into) {
  if (name == "sector") {
    into.autoSectors = value == "auto";
    into.userHints = value != "off";
    return value == "off" || value == "user" || value == "auto";
  }
  if (name == "verify")
    return readFlag(value, "off", "on", into.verify);
  if (name == "extended")
    return readFlag(value, "off", "on", into.extended);
  if (name == "strip-debug")
    return readFlag(value, "off", "on", into.stripDebug);
  if (name == "first-touch")
    return readFirstTouch(value, into.firstTouch);
  if (name == "sim") {
    into.sim = value == "on"      ? Simulation::on
               : value == "check" ? Simulation::check
                                  : Simulation::off;
    return value == "on" || value == "check" || value == "off";
  }
  if (name == "random-hints") {
    uint64_t seed;
    if (value.getAsInteger(0, seed))
      return false;
    into.randomSeed = seed;
    return true;
  }
  if (name == "hints") {
    into.hintFiles.push_back(value.str());
    return !value.empty();
  }
  if (name == "zfill")
    return readZfill(value, into.zfill);
  if (name == "test-zfill")
    return readZfillTest(value, into);
  if (name == "prefetch")
    return readPrefetch(value, into.prefetch);
  if (name == "prefetch-line")
    return readLines(value, maxL1Lines, into.prefetchLines.l1);
  if (name == "prefetch-line-l2")
    return readLines(value, maxL2Lines, into.prefetchLines.l2);
  if (name == "prefetch-indirect")
    return readLines(value, maxIndirect, into.prefetchIndirect);
  if (name == "stream-stores")
    return readFlag(value, "off", "on", into.streamStores);
  if (name == "test-stream")
    return into.streamAlways = value == "always";
  // test-place
  into.placeEarly |= value == "early";
  into.formGep |= value == "gep";
  return value == "early" || value == "gep";
}

Error mpg::parsePassOptions(StringRef text, PassOptions &into) {
  SmallVector<StringRef, 8> items;
  // Empty items are allowed: the text from -mllvm begins with a comma.
  text.split(items, ',', -1, /*KeepEmpty=*/false);
  for (StringRef item : items) {
    StringRef name, value;
    std::tie(name, value) = item.trim().split('=');
    const OptionName *known = find_if(
        optionNames, [&](const OptionName &o) { return name == o.name; });
    if (known == std::end(optionNames)) {
      std::string names;
      for (const OptionName &option : optionNames)
        names += (names.empty() ? "" : ", ") + std::string(option.name);
      return createStringError(inconvertibleErrorCode(),
                               "unknown option '%s' of mpgtools' passes; "
                               "known: %s",
                               name.str().c_str(), names.c_str());
    }
    if (!setOption(name, value, into))
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
  static std::string names[std::size(optionNames)];
  OptionList options;
  for (const OptionName &option : optionNames) {
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
  for (const FirstTouchWord &known : firstTouchWords)
    if (known.mode == options.firstTouch && known.mode != FirstTouch::on)
      text += std::string(",first-touch=") + known.word;
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
    options.firstTouch = said->firstTouch;
    options.sim = said->sim;
    options.zfill = said->zfill;
    options.autoSectors = said->autoSectors;
    options.zfillAlways = said->zfillAlways;
    options.zfillBreaks = said->zfillBreaks;
    options.prefetch = said->prefetch;
    options.prefetchLines = said->prefetchLines;
    options.prefetchIndirect = said->prefetchIndirect;
    options.streamStores = said->streamStores;
    options.streamAlways = said->streamAlways;
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
