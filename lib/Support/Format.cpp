// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Format.h.

#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Process.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

std::string mpg::formatHex(uint64_t value) {
  return "0x" + llvm::utohexstr(value, /*LowerCase=*/true);
}

std::string mpg::formatBytes(uint64_t bytes) {
  static constexpr const char *units[] = {"B",   "KiB", "MiB", "GiB",
                                          "TiB", "PiB", "EiB"};
  unsigned unit = 0;
  while (unit < 6 && bytes >> 10 * (unit + 1) != 0)
    ++unit;
  uint64_t whole = bytes >> 10 * unit;
  std::string text = std::to_string(whole);
  if (unit > 0 && whole < 10) {
    uint64_t tenth = (bytes >> 10 * (unit - 1) & 1023) * 10 / 1024;
    if (tenth)
      text += "." + std::to_string(tenth);
  }
  return text + " " + units[unit];
}

static StringRef pluralEnding(size_t count, StringRef word) {
  return count == 1 ? "" : word.ends_with("s") ? "es" : "s";
}

std::string mpg::countWord(size_t count, StringRef word) {
  return formatv("{0} {1}{2}", count, word, pluralEnding(count, word));
}

std::string mpg::showCount(size_t count, StringRef word) {
  return formatv("{0:N} {1}{2}", count, word, pluralEnding(count, word));
}

std::optional<uint64_t> mpg::parseBytes(StringRef text) {
  unsigned radix = text.consume_front_insensitive("0x") ? 16 : 10;
  uint64_t number = 0;
  if (text.consumeInteger(radix, number))
    return std::nullopt;
  unsigned shift = 0;
  if (!text.empty()) {
    size_t unit = StringRef("KMGT").find(toUpper(text.front()));
    if (unit == StringRef::npos)
      return std::nullopt;
    shift = 10 * unsigned(unit + 1);
    text = text.drop_front();
    text.consume_front("i");
    text.consume_front("B");
  }
  if (!text.empty() || number > UINT64_MAX >> shift)
    return std::nullopt;
  return number << shift;
}

std::string mpg::shellWord(StringRef text) {
  bool isPlain = !text.empty() && all_of(text, [](char c) {
    return isAlnum(c) || StringRef("/._-+=@%:,").contains(c);
  });
  if (isPlain)
    return text.str();
  std::string word = "'";
  for (char c : text)
    word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

std::string mpg::printable(StringRef text) {
  std::string safe;
  for (size_t i = 0; i < text.size(); ++i) {
    uint8_t byte = uint8_t(text[i]);
    // U+0080 to U+009F are control characters as well, two bytes in UTF-8.
    bool pair = byte == 0xc2 && i + 1 < text.size() &&
                (uint8_t(text[i + 1]) & 0xe0) == 0x80;
    if (byte >= 0x20 && byte != 0x7f && !pair) {
      safe += char(byte);
      continue;
    }
    safe += "\\x" + toHex(text.substr(i, 1), /*LowerCase=*/true);
    if (pair)
      safe += "\\x" + toHex(text.substr(++i, 1), /*LowerCase=*/true);
  }
  return safe;
}

std::string mpg::validUtf8(StringRef text) {
  return json::isUTF8(text) ? text.str() : json::fixUTF8(text);
}

/// Bytes of the letter that begins with \p first. pre: valid UTF-8.
static size_t letterBytes(char first) {
  auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

/// Letters of Asia begin in the range of three bytes.
static size_t letterColumns(size_t bytes) { return bytes > 2 ? 2 : 1; }

size_t mpg::labelColumns(StringRef text) {
  size_t columns = 0;
  for (size_t i = 0; i < text.size(); i += letterBytes(text[i]))
    columns += letterColumns(letterBytes(text[i]));
  return columns;
}

std::string mpg::shortLabel(StringRef text, size_t columns) {
  std::string safe = validUtf8(printable(text));
  size_t left = labelColumns(safe);
  if (left <= columns)
    return safe;
  // From the middle: names of a kind often differ at their ends.
  auto widthAt = [&](size_t i) { return letterColumns(letterBytes(safe[i])); };
  size_t room = columns - std::min<size_t>(columns, 2), head = 0;
  for (size_t used = 0; used + widthAt(head) <= (room + 1) / 2;) {
    used += widthAt(head);
    left -= widthAt(head);
    head += letterBytes(safe[head]);
  }
  size_t tail = head;
  while (left > room / 2) {
    left -= widthAt(tail);
    tail += letterBytes(safe[tail]);
  }
  return safe.substr(0, head) + ".." + safe.substr(tail);
}

unsigned mpg::terminalColumns() {
  constexpr unsigned min = 40, max = 120;
  unsigned width = sys::Process::StandardOutColumns();
  return width ? std::clamp(width, min, max) - 2 : usualColumns;
}

std::string mpg::fillLine(StringRef text, unsigned indent) {
  return sys::Process::StandardOutIsDisplayed()
             ? fillText(text, indent, terminalColumns())
             : text.str();
}

void mpg::writeFilled(raw_ostream &out, StringRef head, StringRef text,
                      std::optional<unsigned> indent) {
  out << head << fillText(text, indent.value_or(unsigned(head.size()))) << "\n";
}

void mpg::writeFact(raw_ostream &out, StringRef label, unsigned columns,
                    StringRef text) {
  std::string head = "  " + label.str();
  head.resize(std::max<size_t>(head.size(), 2 + columns), ' ');
  writeFilled(out, head, text, 2 + columns);
}

std::string mpg::fillText(StringRef text, unsigned indent, unsigned columns) {
  std::string filled;
  auto newLine = [&](StringRef line) {
    if (!filled.empty())
      filled += "\n";
    if (!line.empty() && !filled.empty())
      filled += std::string(indent, ' ');
    filled += line;
  };
  for (StringRef line : split(text, '\n')) {
    if (line.empty() || line.starts_with("  ")) {
      newLine(line);
      continue;
    }
    SmallVector<StringRef, 64> words;
    line.split(words, ' ', -1, /*KeepEmpty=*/false);
    std::string current;
    for (StringRef word : words) {
      if (!current.empty() &&
          indent + current.size() + 1 + word.size() > columns) {
        newLine(current);
        current.clear();
      }
      current += (current.empty() ? "" : " ") + word.str();
    }
    newLine(current);
  }
  return filled;
}

// Names, and those that do not exist

bool mpg::hasWord(StringRef words, StringRef word) {
  return is_contained(split(words, ' '), word);
}

/// A word of two letters is close to anything, so the distance depends on the
/// length. A pure guess costs nothing; a wrong name of a megabyte would.
StringRef mpg::nearestName(StringRef typed, ArrayRef<StringRef> names) {
  StringRef nearest;
  unsigned min = unsigned(std::min<size_t>(typed.size(), 30) / 3 + 1);
  for (StringRef name : names) {
    if (typed.size() > name.size() + min)
      continue;
    unsigned distance = typed.edit_distance_insensitive(name, true, min);
    if (distance < min) {
      min = distance;
      nearest = name;
    }
  }
  return nearest;
}

static std::string didYouMean(StringRef name) {
  return "; did you mean '" + name.str() + "'?";
}

std::string mpg::suggest(StringRef typed, ArrayRef<StringRef> names) {
  StringRef nearest = nearestName(typed, names);
  if (!nearest.empty())
    return didYouMean(nearest);
  std::string text = "; it is one of";
  for (StringRef name : names)
    text += " " + name.str();
  return text;
}

std::string mpg::suggestValue(StringRef typed, ArrayRef<StringRef> values) {
  const StringRef *begun = find_if(values, [&](StringRef value) {
    return typed.size() >= 3 && value.starts_with_insensitive(typed);
  });
  return begun != values.end() ? didYouMean(*begun) : suggest(typed, values);
}
