// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON as reports write it: a tree that keeps the order of its keys, which
// LLVM's json::Object does not. A report is one expression:
//
//   JsonObject{{"path", file.path},          // what is not UTF-8 is replaced
//              {"line", file.line},          // std::optional: null if empty
//              {"symbol", textOrAbsent(s)},  // no key if empty
//              {"pages", jsonList(pages, pageItem)}}

#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace mpg {

struct JsonField;
class JsonItem;
using JsonObject = std::vector<JsonField>;
using JsonArray = std::vector<JsonItem>;

class JsonItem {
public:
  JsonItem(std::nullptr_t = nullptr) {}
  template <typename Number,
            typename = std::enable_if_t<std::is_integral_v<Number>>>
  JsonItem(Number value) : scalar(value) {}
  /// Null if it is not finite: JSON has no word for that.
  JsonItem(double value);
  JsonItem(llvm::StringRef text);
  JsonItem(const char *text) : JsonItem(llvm::StringRef(text)) {}
  JsonItem(const std::string &text) : JsonItem(llvm::StringRef(text)) {}
  template <typename Value>
  JsonItem(const std::optional<Value> &value)
      : JsonItem(value ? JsonItem(*value) : JsonItem()) {}
  JsonItem(JsonObject fields);
  JsonItem(JsonArray entries);
  template <typename Value>
  JsonItem(const std::vector<Value> &values)
      : JsonItem(JsonArray(values.begin(), values.end())) {}
  /// As a value of a key: the key is not written.
  static JsonItem absent();
  /// Null, for the reason \p why; see reasons().
  static JsonItem unknown(llvm::StringRef why);

  void write(llvm::json::OStream &json) const;
  /// Why values in it are unknown: in their order, each reason once.
  std::vector<std::string> reasons() const;

private:
  enum class Kind { scalar, object, array, absent, unknown };
  void collectReasons(std::vector<std::string> &reasons) const;

  Kind kind = Kind::scalar;
  llvm::json::Value scalar = nullptr;
  // Shared, because the braces of an expression copy what is in them.
  std::shared_ptr<const JsonObject> fields;
  std::shared_ptr<const JsonArray> entries;
};

struct JsonField {
  std::string key;
  JsonItem value;
};

JsonItem textOrNull(llvm::StringRef text);
JsonItem textOrAbsent(llvm::StringRef text);
JsonItem listOrAbsent(JsonArray list);
template <typename Value> JsonItem orAbsent(const Value &value) {
  return value ? JsonItem(*value) : JsonItem::absent();
}

/// What \p make returns for each of \p range.
template <typename Range, typename Make>
JsonArray jsonList(const Range &range, Make make) {
  JsonArray list;
  for (const auto &entry : range)
    list.emplace_back(make(entry));
  return list;
}

/// An object of pairs of a key and a value.
template <typename Range> JsonObject jsonObject(const Range &pairs) {
  JsonObject object;
  for (const auto &[key, value] : pairs)
    object.push_back({std::string(key), value});
  return object;
}

/// Without a line's end. \p indent: of each level; 0: on one line.
void writeJson(llvm::raw_ostream &out, const JsonItem &item,
               unsigned indent = 0);

} // namespace mpg
