// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See JsonFields.h.

#include "Support/JsonFields.h"
#include "llvm/ADT/Twine.h"
#include <cmath>

using namespace llvm;
using namespace mpg;

/// Brackets that may lie in each other; results need eight.
static constexpr unsigned maxDepth = 32;
/// Limit of one text: a name, a reason, a sentence.
static constexpr size_t maxTextBytes = 16384;

// LLVM's parser recurses on brackets without a limit: a file of a few MiB would
// fill the stack before it says anything. So they are counted first.
bool mpg::isDeepJson(StringRef text) {
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char character = text[i];
    if (inString && character == '\\')
      ++i; // the quote after it ends no string
    else if (character == '"')
      inString = !inString;
    else if (inString)
      continue;
    else if (character == '[' || character == '{')
      ++depth;
    else if ((character == ']' || character == '}') && depth)
      --depth;
    if (depth > maxDepth)
      return true;
  }
  return false;
}

Expected<json::Value> mpg::parseJson(StringRef text, size_t maxBytes) {
  if (text.size() > maxBytes)
    return createStringError(
        inconvertibleErrorCode(),
        "more than %zu bytes: this is not a file of results", maxBytes);
  if (isDeepJson(text))
    return createStringError(inconvertibleErrorCode(),
                             "brackets in brackets: these are not results");
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return createStringError(inconvertibleErrorCode(),
                             "not JSON: " + toString(value.takeError()));
  return value;
}

JsonFields::JsonFields(const json::Value &value, std::string place,
                       std::string &error)
    : fields(value.getAsObject()), place(std::move(place)), error(error) {
  if (!fields && error.empty())
    error = (this->place.empty() ? "" : this->place + ": ") + "not an object";
}

// The first error is kept: what follows from it would name another place.
void JsonFields::fail(StringRef key, const Twine &what) const {
  if (error.empty())
    error = (getPlace(key) + ": " + what).str();
}

std::string JsonFields::getPlace(StringRef key) const {
  return ((place.empty() ? "" : place + ".") + key).str();
}

/// Null after an error.
const json::Value *JsonFields::get(StringRef key) const {
  if (!error.empty() || !fields)
    return nullptr;
  const json::Value *value = fields->get(key);
  if (!value)
    fail(key, "missing");
  return value;
}

/// Null after an error, too.
const json::Array *JsonFields::getList(StringRef key) const {
  const json::Value *value = get(key);
  const json::Array *list = value ? value->getAsArray() : nullptr;
  if (value && !list)
    fail(key, "not a list");
  return list;
}

std::string JsonFields::text(StringRef key) const {
  const json::Value *value = get(key);
  if (!value)
    return {};
  std::optional<StringRef> text = value->getAsString();
  if (!text)
    fail(key, "not a text");
  else if (text->size() > maxTextBytes)
    fail(key, "a text of more than " + Twine(maxTextBytes) + " bytes");
  else
    return text->str();
  return {};
}

bool JsonFields::isNull(StringRef key) const {
  const json::Value *value = get(key);
  return value && value->kind() == json::Value::Null;
}

bool JsonFields::has(StringRef key) const {
  return error.empty() && fields && fields->get(key);
}

std::vector<uint64_t> JsonFields::counts(StringRef key) const {
  std::vector<uint64_t> counts;
  const json::Array *list = getList(key);
  for (size_t at = 0; list && at < list->size(); ++at) {
    std::optional<uint64_t> count = (*list)[at].getAsUINT64();
    if (!count)
      fail(key, "not integers of 0 or above");
    counts.push_back(count.value_or(0));
  }
  return counts;
}

std::vector<std::string> JsonFields::texts(StringRef key) const {
  std::vector<std::string> texts;
  const json::Array *list = getList(key);
  for (size_t at = 0; list && at < list->size(); ++at) {
    std::optional<StringRef> text = (*list)[at].getAsString();
    if (!text)
      fail(key, "not texts");
    texts.push_back(text.value_or("").str());
  }
  return texts;
}

std::string JsonFields::textOrNull(StringRef key) const {
  return isNull(key) ? std::string() : text(key);
}

bool JsonFields::boolean(StringRef key) const {
  const json::Value *value = get(key);
  if (value && !value->getAsBoolean())
    fail(key, "neither true nor false");
  return value && value->getAsBoolean().value_or(false);
}

uint64_t JsonFields::count(StringRef key) const {
  const json::Value *value = get(key);
  if (value && !value->getAsUINT64())
    fail(key, "not an integer of 0 or above");
  return value ? value->getAsUINT64().value_or(0) : 0;
}

std::optional<uint64_t> JsonFields::countOrNull(StringRef key) const {
  if (isNull(key))
    return std::nullopt;
  return count(key);
}

double JsonFields::number(StringRef key) const {
  const json::Value *value = get(key);
  std::optional<double> number =
      value ? value->getAsNumber() : std::optional<double>();
  if (value && (!number || !std::isfinite(*number)))
    fail(key, "not a number");
  return error.empty() ? number.value_or(0) : 0;
}

double JsonFields::positive(StringRef key) const {
  double value = number(key);
  if (!error.empty())
    return 1; // so that callers may divide by it
  if (value <= 0)
    fail(key, "must be above 0");
  else if (value < 1e-30 || value > 1e30)
    fail(key, "not the size of anything that is measured");
  return error.empty() ? value : 1;
}

JsonFields JsonFields::object(StringRef key) const {
  static const json::Value none = nullptr; // a reference to it outlives this
  const json::Value *value = get(key);
  return JsonFields(value ? *value : none, getPlace(key), error);
}

void JsonFields::each(StringRef key, size_t maxEntries,
                      function_ref<void(const JsonFields &)> visit) const {
  const json::Array *list = getList(key);
  if (!list)
    return;
  if (list->size() > maxEntries)
    return fail(key, "more than " + Twine(maxEntries) + " entries");
  std::string prefix = getPlace(key) + "[";
  for (size_t i = 0; i < list->size() && error.empty(); ++i) {
    JsonFields entry((*list)[i], prefix + std::to_string(i) + "]", error);
    if (error.empty())
      visit(entry);
  }
}

void JsonFields::eachNumber(StringRef key, size_t maxEntries,
                            function_ref<void(StringRef, double)> visit) const {
  JsonFields numbers = object(key);
  if (!error.empty())
    return;
  if (numbers.fields->size() > maxEntries)
    return fail(key, "more than " + Twine(maxEntries) + " entries");
  for (const auto &field : *numbers.fields) {
    StringRef name = field.first;
    double value = numbers.number(name);
    if (!error.empty())
      return;
    visit(name, value);
  }
}
