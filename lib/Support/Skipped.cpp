// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Skipped.h.

#include "Support/Skipped.h"
#include "Support/Format.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

void Skipped::add(const std::string &name, const Skip &skip) {
  constexpr size_t maxNamed = 3;
  Inputs &kind = inputs[size_t(skip.kind)];
  ++kind.count;
  if (kind.first.size() < maxNamed)
    kind.first.emplace_back(name, skip.reason);
}

size_t Skipped::count() const {
  size_t sum = 0;
  for (const Inputs &kind : inputs)
    sum += kind.count;
  return sum;
}

std::vector<std::string> Skipped::describe(StringRef noun, StringRef foreign,
                                           StringRef repeated) const {
  const StringRef kinds[] = {
      "cannot be read",          foreign,
      "half-written or damaged", "of another version of the schema",
      "with wrong values",       repeated};
  static_assert(std::size(kinds) == kindCount);
  std::vector<std::string> lines;
  for (size_t kind = 0; kind < kindCount; ++kind) {
    const auto &[count, first] = inputs[kind];
    if (!count)
      continue;
    std::vector<std::string> parts;
    for (const auto &[name, reason] : first)
      parts.push_back((name.empty() ? "" : name + ": ") + reason);
    if (count > parts.size())
      parts.push_back("and " + std::to_string(count - parts.size()) + " more");
    lines.push_back(showCount(count, noun) + " " + kinds[kind].str() + ": " +
                    join(parts, "; "));
  }
  return lines;
}

JsonArray Skipped::toJson(StringRef nameKey) const {
  static constexpr StringLiteral names[] = {"unreadable",   "foreign",
                                            "half-written", "other-version",
                                            "wrong",        "repeated"};
  static_assert(std::size(names) == kindCount);
  auto item = [&](const auto &entry) {
    return JsonObject{{nameKey.str(), entry.first}, {"reason", entry.second}};
  };
  JsonArray list;
  for (size_t kind = 0; kind < kindCount; ++kind)
    if (const Inputs &one = inputs[kind]; one.count)
      list.push_back(JsonObject{{"kind", names[kind]},
                                {"count", one.count},
                                {"first", jsonList(one.first, item)}});
  return list;
}
