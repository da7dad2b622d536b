// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See JsonItem.h.

#include "Support/JsonItem.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;
using namespace mpg;

// Added is a 0 because -0 would be read as an integer, without its sign.
JsonItem::JsonItem(double value)
    : scalar(std::isfinite(value) ? json::Value(value + 0.0)
                                  : json::Value(nullptr)) {}

JsonItem::JsonItem(StringRef text) : scalar(validUtf8(text)) {}

JsonItem::JsonItem(JsonObject fields)
    : kind(Kind::object),
      fields(std::make_shared<JsonObject>(std::move(fields))) {}

JsonItem::JsonItem(JsonArray entries)
    : kind(Kind::array),
      entries(std::make_shared<JsonArray>(std::move(entries))) {}

JsonItem JsonItem::absent() {
  JsonItem item;
  item.kind = Kind::absent;
  return item;
}

JsonItem JsonItem::unknown(StringRef why) {
  JsonItem item;
  if (!why.empty()) {
    item = why;
    item.kind = Kind::unknown;
  }
  return item;
}

void JsonItem::collectReasons(std::vector<std::string> &reasons) const {
  if (kind == Kind::unknown && !is_contained(reasons, *scalar.getAsString()))
    reasons.push_back(scalar.getAsString()->str());
  if (fields)
    for (const JsonField &field : *fields)
      field.value.collectReasons(reasons);
  if (entries)
    for (const JsonItem &entry : *entries)
      entry.collectReasons(reasons);
}

std::vector<std::string> JsonItem::reasons() const {
  std::vector<std::string> all;
  collectReasons(all);
  return all;
}

void JsonItem::write(json::OStream &json) const {
  switch (kind) {
  case Kind::scalar:
    return json.value(scalar);
  case Kind::unknown:
    return json.value(nullptr);
  case Kind::array:
    return json.array([&] {
      for (const JsonItem &entry : *entries)
        entry.write(json);
    });
  case Kind::object:
    return json.object([&] {
      for (const auto &[key, value] : *fields) {
        if (value.kind == Kind::absent)
          continue;
        json.attributeBegin(key);
        value.write(json);
        json.attributeEnd();
      }
    });
  case Kind::absent:
    break;
  }
}

JsonItem mpg::textOrNull(StringRef text) {
  return text.empty() ? JsonItem() : JsonItem(text);
}

JsonItem mpg::textOrAbsent(StringRef text) {
  return text.empty() ? JsonItem::absent() : JsonItem(text);
}

JsonItem mpg::listOrAbsent(JsonArray list) {
  return list.empty() ? JsonItem::absent() : JsonItem(std::move(list));
}

void mpg::writeJson(raw_ostream &out, const JsonItem &item, unsigned indent) {
  json::OStream json(out, indent);
  item.write(json);
}
