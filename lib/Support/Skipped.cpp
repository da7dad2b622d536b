// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Skipped.h.

#include "Support/Skipped.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

void Skipped::add(const std::string &name, const Skip &skip) {
  constexpr size_t maxNamed = 3;
  Inputs &kind = inputs[size_t(skip.kind)];
  ++kind.count;
  if (kind.first.size() < maxNamed)
    kind.first.emplace_back(name, skip.reason);
}

bool Skipped::isEmpty() const {
  return all_of(inputs, [](const Inputs &kind) { return kind.count == 0; });
}

StringRef Skipped::describe(size_t kind, StringRef foreign,
                            StringRef repeated) {
  return std::array{StringRef("cannot be read"),
                    foreign,
                    StringRef("half-written or damaged"),
                    StringRef("of another version of the schema"),
                    StringRef("with wrong values"),
                    repeated}[kind];
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
