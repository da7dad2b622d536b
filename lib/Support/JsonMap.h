// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON in both directions by one walk over the members, as LLVM's yaml::IO does
// it, so that a schema is spelled once:
//
//   template <typename Json, typename Rank>
//   static void mapRank(Json &json, Rank &rank) { // const for JsonWriter
//     json.field("accesses", rank.accesses);
//     json.optional("rank", rank.number);         // no key if it is empty or 0
//     json.list("pages", maxPages, rank.pages,
//               [](Json &json, auto &page) { mapPage(json, page); });
//   }

#pragma once

#include "Support/JsonFields.h"
#include "Support/JsonItem.h"
#include <limits>

namespace mpg {

class JsonWriter {
public:
  static constexpr bool reads = false;

  template <typename Value>
  void field(llvm::StringRef key, const Value &value) {
    fields.push_back({key.str(), value});
  }
  template <typename Value>
  void optional(llvm::StringRef key, const Value &value) {
    if (value != Value())
      field(key, value);
  }
  /// Null if it is empty.
  void nullable(llvm::StringRef key, llvm::StringRef text) {
    fields.push_back({key.str(), textOrNull(text)});
  }
  /// For a value that no reader needs. \p make: of its JsonItem.
  template <typename Make> void derived(llvm::StringRef key, Make make) {
    fields.push_back({key.str(), make()});
  }
  template <typename Visit> void object(llvm::StringRef key, Visit visit) {
    JsonWriter inner;
    visit(inner);
    fields.push_back({key.str(), inner.finish()});
  }
  /// \p isThere: asked for when it is written.
  template <typename Visit>
  void optionalObject(llvm::StringRef key, bool isThere, Visit visit) {
    if (isThere)
      object(key, visit);
  }
  template <typename Values, typename Visit>
  void list(llvm::StringRef key, size_t /*maxEntries*/, const Values &values,
            Visit visit) {
    fields.push_back({key.str(), jsonList(values, [&](const auto &value) {
                        JsonWriter inner;
                        visit(inner, value);
                        return inner.finish();
                      })});
  }
  template <typename Values, typename Visit>
  void optionalList(llvm::StringRef key, size_t maxEntries,
                    const Values &values, Visit visit) {
    if (!values.empty())
      list(key, maxEntries, values, visit);
  }
  JsonObject finish() { return std::move(fields); }

private:
  JsonObject fields;
};

class JsonReader {
public:
  static constexpr bool reads = true;
  explicit JsonReader(const JsonFields &fields) : fields(fields) {}

  void field(llvm::StringRef key, std::string &text) {
    text = fields.text(key);
  }
  void field(llvm::StringRef key, std::vector<std::string> &texts) {
    texts = fields.texts(key);
  }
  void field(llvm::StringRef key, bool &value) { value = fields.boolean(key); }
  void field(llvm::StringRef key, double &number) {
    number = fields.number(key);
  }
  void field(llvm::StringRef key, std::optional<uint64_t> &count) {
    count = fields.countOrNull(key);
  }
  template <typename Number> void field(llvm::StringRef key, Number &number) {
    uint64_t count = fields.count(key);
    if (count > std::numeric_limits<Number>::max())
      fields.fail(key, "too large");
    number = Number(count);
  }
  void nullable(llvm::StringRef key, std::string &text) {
    text = fields.textOrNull(key);
  }
  template <typename Value> void optional(llvm::StringRef key, Value &value) {
    if (fields.has(key))
      field(key, value);
  }
  template <typename Make> void derived(llvm::StringRef, Make) {}
  template <typename Visit> void object(llvm::StringRef key, Visit visit) {
    JsonReader inner(fields.object(key));
    visit(inner);
  }
  template <typename Visit>
  void optionalObject(llvm::StringRef key, bool, Visit visit) {
    if (fields.has(key))
      object(key, visit);
  }
  template <typename Value, typename Visit>
  void list(llvm::StringRef key, size_t maxEntries, std::vector<Value> &values,
            Visit visit) {
    fields.each(key, maxEntries, [&](const JsonFields &entry) {
      JsonReader inner(entry);
      visit(inner, values.emplace_back());
    });
  }
  template <typename Value, typename Visit>
  void optionalList(llvm::StringRef key, size_t maxEntries,
                    std::vector<Value> &values, Visit visit) {
    if (fields.has(key))
      list(key, maxEntries, values, visit);
  }
  const JsonFields &source() const { return fields; }

private:
  JsonFields fields;
};

} // namespace mpg
