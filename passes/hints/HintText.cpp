// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HintText.h.

#include "hints/HintText.h"
#include "base/PassOptions.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mpg;

// A text of an unknown version is rejected as a whole: reading a part of it
// could do the opposite of what it asks for.
static constexpr StringLiteral prefix = "mpg:";
static constexpr StringLiteral version = "1:";

static Error badHint(const Twine &text) {
  return createStringError(inconvertibleErrorCode(), text);
}

/// Reads `name=NUMBER` with NUMBER from 0 to \p max.
static Error readNumber(StringRef item, unsigned max,
                        std::optional<unsigned> &into) {
  auto [name, digits] = item.split('=');
  unsigned number;
  if (digits.trim().getAsInteger(10, number) || number > max)
    return badHint("'" + item + "': " + name.trim() +
                   "= takes a number from 0 " + "to " + Twine(max));
  // Repeating the same number is not a mistake.
  if (into && *into != number)
    return badHint("'" + item + "' contradicts " + name.trim() + "=" +
                   Twine(*into) + "; leave out one of them");
  into = number;
  return Error::success();
}

/// Reads one word into a separate hint and adds that, so that contradictions
/// within one text are found like those between two places.
static Error readItem(StringRef item, Hint &into) {
  StringRef name = item.split('=').first.trim();
  Hint one;
  if (name == "sector" || name == "inject") {
    bool isSector = name == "sector";
    if (Error error = readNumber(item, isSector ? 3 : 7,
                                 isSector ? one.sector : one.injection))
      return error;
  } else if (item == "stream" || item == "keep") {
    one.sector = item == "stream";
  } else if (item == "no_l1_hwpf") {
    one.noL1Prefetch = true;
  } else if (item == "no_l2_hwpf") {
    one.noL2Prefetch = true;
  } else if (item == "no_hwpf") {
    one.noL1Prefetch = one.noL2Prefetch = true;
  } else if (item == "weak_swpf") {
    one.weakPrefetch = true;
  } else if (item == "off") {
    one.off = true;
  } else {
    return badHint(
        "unknown hint '" + item +
        "'; known: sector=0..3, stream, keep, no_l1_hwpf, no_l2_hwpf, "
        "no_hwpf, weak_swpf, inject=0..7, off");
  }
  std::string wrong = into.add(one);
  return wrong.empty() ? Error::success()
                       : badHint("contradictory hints: " + wrong);
}

namespace {
/// Where ways are read into; without names they are numbers only.
struct WaysText {
  Ways &ways;
  WayNames *names;
};
} // namespace

static bool isVariableName(StringRef text) {
  return !text.empty() && !isDigit(text.front()) &&
         all_of(text, [](char c) { return isAlnum(c) || strchr("_$", c); });
}

static Error readItem(StringRef item, WaysText &into) {
  auto [name, value] = item.split('=');
  name = name.trim();
  value = value.trim();
  bool isL1 = name.equals_insensitive("l1");
  if (!isL1 && !name.equals_insensitive("l2"))
    return badHint("unknown word '" + item + "'; known: l1=0..4, l2=0..14");
  std::optional<unsigned> &number = isL1 ? into.ways.l1 : into.ways.l2;
  std::string *variable = nullptr;
  if (into.names)
    variable = isL1 ? &into.names->l1 : &into.names->l2;
  bool isVariable = variable && isVariableName(value);
  bool hasOther = variable && !variable->empty() && *variable != value;
  if (hasOther || (isVariable && number))
    return badHint("'" + item + "' contradicts " + name + "=" +
                   (number ? utostr(*number) : *variable) +
                   "; leave out one of them");
  if (!isVariable)
    return readNumber(item, isL1 ? l1Ways : l2Ways, number);
  *variable = value.str();
  return Error::success();
}

static Error readTouch(StringRef args, TouchChoice &into) {
  args = args.trim();
  into = StringSwitch<TouchChoice>(args)
             .Case("off", TouchChoice::off)
             .Case("on", TouchChoice::on)
             .Default(TouchChoice::none);
  if (into == TouchChoice::none)
    return badHint("unknown word '" + args + "'; known: touch:off, touch:on");
  return Error::success();
}

static bool isLines(StringRef value, unsigned max, unsigned &lines) {
  return !value.getAsInteger(10, lines) && lines <= max;
}

static Error readLoop(StringRef args, LoopChoice &into) {
  auto [name, value] = args.trim().split('=');
  into.value = value == "on";
  bool isKnown = false;
  if (name == "zfill") {
    into.mark = zfillMark;
    isKnown = readZfill(value, into.value);
  } else if (name == "prefetch") {
    into.mark = prefetchMark;
    isKnown = value == "on" || value == "off";
  } else if (name == "prefetch-line") {
    into.mark = prefetchL1Mark;
    isKnown = isLines(value, maxL1Lines, into.value);
  } else if (name == "prefetch-line-l2") {
    into.mark = prefetchL2Mark;
    isKnown = isLines(value, maxL2Lines, into.value);
  } else if (name == "prefetch-indirect") {
    into.mark = indirectMark;
    isKnown = isLines(value, maxIndirect, into.value);
  }
  if (isKnown)
    return Error::success();
  return badHint("unknown word '" + args.trim() +
                 "'; known: loop:zfill=1..100, loop:zfill=auto, "
                 "loop:zfill=off, loop:prefetch=on, loop:prefetch=off, "
                 "loop:prefetch-line=0..100, loop:prefetch-line-l2=0..500, "
                 "loop:prefetch-indirect=0..1000");
}

template <typename Args> static Error readItems(StringRef text, Args &into) {
  if (text.trim().empty())
    return badHint("nothing follows the colon; write for example "
                   "hint:sector=1 or ways:l2=4");
  for (StringRef item : split(text, ','))
    if (Error error = readItem(item.trim(), into))
      return error;
  return Error::success();
}

static std::optional<HintKind> findKind(StringRef word) {
  return StringSwitch<std::optional<HintKind>>(word)
      .Case("hint", HintKind::hint)
      .Case("ways", HintKind::ways)
      .Case("touch", HintKind::touch)
      .Case("loop", HintKind::loop)
      .Case("assign", HintKind::assign)
      .Case("procedure-assign", HintKind::procedureAssign)
      .Case("procedure-ways", HintKind::procedureWays)
      .Case("way-value", HintKind::wayValue)
      .Case("end-assign", HintKind::endAssign)
      .Case("end-ways", HintKind::endWays)
      .Default(std::nullopt);
}

bool mpg::isHintText(StringRef text) { return text.starts_with(prefix); }

/// \p text without the prefix and the version. \p mayName: ways may be those
/// that a variable has.
static Expected<HintText> parseKind(StringRef text, bool mayName) {
  auto [word, args] = text.split(':');
  auto [kindWord, region] = word.split('@');
  std::optional<HintKind> kind = findKind(kindWord.trim());
  // Only those that users write are named; the others are the pragma plugin's.
  if (!kind)
    return badHint("unknown kind of hint '" + word.trim() +
                   "'; known: hint, ways, touch, loop");
  HintText result;
  result.kind = *kind;
  // Leaves it unchanged if there is none.
  region.getAsInteger(10, result.region);
  Error error = Error::success();
  switch (*kind) {
  case HintKind::hint:
  case HintKind::assign:
  case HintKind::procedureAssign:
    error = readItems(args, result.hint);
    break;
  case HintKind::ways:
  case HintKind::procedureWays: {
    WaysText ways{result.ways, mayName ? &result.wayNames : nullptr};
    // All may be known at run time only.
    if (!result.region || !args.empty())
      error = readItems(args, ways);
    break;
  }
  case HintKind::wayValue:
    result.isL1 = args == "l1";
    break;
  case HintKind::touch:
    error = readTouch(args, result.touch);
    break;
  case HintKind::loop:
    error = readLoop(args, result.loop);
    break;
  case HintKind::endAssign:
  case HintKind::endWays:
    break;
  }
  if (error)
    return error;
  return result;
}

Expected<HintText> mpg::parseHintText(StringRef text) {
  StringRef rest = text;
  if (!rest.consume_front(prefix) || !rest.consume_front(version))
    return badHint(
        "it begins with '" + text.take_front(6) +
        "' and not with 'mpg:1:', the version that this plugin knows");
  return parseKind(rest, false);
}

Expected<HintText> mpg::parseShortHintText(StringRef text) {
  StringRef word = text.split(':').first.trim();
  if (text.contains(':') || findKind(word))
    return parseKind(text, true);
  // "stream": words alone are a hint for data.
  std::string whole = ("hint:" + text).str();
  return parseKind(whole, true);
}
