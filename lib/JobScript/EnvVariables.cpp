// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See EnvVariables.h. The words of env.def for a domain, such as "1..255", as
// rules for values.

#include "JobScript/EnvVariables.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

static constexpr EnvVariable table[] = {
#define MPG_ENV(name, type, domain, fallback, needs, overridden, owner, help)  \
  {#name, EnvType::type, domain, fallback, needs, overridden, EnvOwner::owner},
#include "mpg/env.def"
};

ArrayRef<EnvVariable> mpg::allEnvVariables() { return table; }

const EnvVariable *mpg::findEnvVariable(StringRef name) {
  for (const EnvVariable &variable : table)
    if (variable.name == name)
      return &variable;
  return nullptr;
}

/// Names here are short; what is longer is near to nothing.
static constexpr size_t longestName = 64;

unsigned mpg::editDistance(StringRef a, StringRef b) {
  if (a.size() > longestName || b.size() > longestName)
    return longestName;
  return a.edit_distance(b);
}

const EnvVariable *mpg::nearestEnvVariable(StringRef name) {
  const EnvVariable *nearest = nullptr;
  unsigned least = 5; // as libmpg has it
  if (name.size() > longestName)
    return nullptr;
  for (const EnvVariable &variable : table) {
    // Stops where it cannot become the least any more.
    unsigned here = name.edit_distance(variable.name,
                                       /*AllowReplacements=*/true, least - 1);
    if (here < least) {
      least = here;
      nearest = &variable;
    }
    if (least == 0)
      break;
  }
  return nearest;
}

std::optional<uint64_t> mpg::parseEnvNumber(StringRef text) {
  unsigned base = 10;
  if (text.consume_front("0x") || text.consume_front("0X"))
    base = 16;
  uint64_t value;
  // getAsInteger would take a sign.
  if (text.empty() || !isHexDigit(text[0]) || text.getAsInteger(base, value))
    return std::nullopt;
  return value;
}

/// "1..255", "0.."
static bool isInRange(StringRef domain, StringRef text) {
  auto [least, most] = domain.split("..");
  std::optional<uint64_t> value = parseEnvNumber(text);
  return value && *value >= parseEnvNumber(least).value_or(0) &&
         *value <= parseEnvNumber(most).value_or(UINT64_MAX);
}

static bool isChoice(StringRef domain, StringRef text) {
  SmallVector<StringRef, 8> words;
  domain.split(words, '|');
  return is_contained(words, text);
}

static bool arePolicies(StringRef domain, StringRef text) {
  SmallVector<StringRef, 4> fields;
  text.split(fields, ':');
  return fields.size() == 3 && all_of(fields, [&](StringRef field) {
           return isChoice(domain, field);
         });
}

bool mpg::isLegalValue(const EnvVariable &variable, StringRef text) {
  switch (variable.type) {
  case EnvType::choice:
    return isChoice(variable.domain, text);
  case EnvType::uint:
    return isInRange(variable.domain, text);
  case EnvType::policy3:
    return arePolicies(variable.domain, text);
  case EnvType::file: {
    auto [device, inode] = text.split(':');
    return parseEnvNumber(device) && parseEnvNumber(inode);
  }
  case EnvType::pair: {
    auto [first, second] = text.split(',');
    auto [firstDomain, secondDomain] = variable.domain.split(',');
    return isInRange(firstDomain, first) && isInRange(secondDomain, second);
  }
  }
  return false;
}

/// "demand" is demand for all three; a missing third word is as the second.
static std::string nearestPolicy(const EnvVariable &variable, StringRef text) {
  SmallVector<StringRef, 4> fields;
  text.split(fields, ':', -1, /*KeepEmpty=*/false);
  if (fields.empty())
    return variable.fallback.str();
  fields.resize(3, fields.back());
  std::string policy;
  for (StringRef field : fields) {
    bool demand =
        editDistance(field, "demand") <= editDistance(field, "prepage");
    policy += (policy.empty() ? "" : ":");
    policy += demand ? "demand" : "prepage";
  }
  return policy;
}

static std::string nearestWord(const EnvVariable &variable, StringRef text) {
  if (isChoice(variable.domain, "on")) // 0|1|off|on
    return is_contained({"true", "yes", "ON", "On", "TRUE", "enable"}, text)
               ? "on"
               : "off";
  if (variable.domain == "TRUE|FALSE")
    return is_contained({"1", "on", "ON", "yes", "true", "True"}, text)
               ? "TRUE"
               : "FALSE";
  SmallVector<StringRef, 8> words;
  variable.domain.split(words, '|');
  StringRef nearest = variable.fallback;
  unsigned least = 4;
  for (StringRef word : words)
    if (unsigned here = editDistance(text.lower(), word.lower());
        here < least && here < word.size()) {
      least = here;
      nearest = word;
    }
  return nearest.str();
}

std::string mpg::nearestValue(const EnvVariable &variable, StringRef text) {
  text = text.trim();
  switch (variable.type) {
  case EnvType::choice:
    return nearestWord(variable, text);
  case EnvType::policy3:
    return nearestPolicy(variable, text);
  case EnvType::uint:
    // "200K" is what a user means by it.
    if (std::optional<uint64_t> bytes = parseBytes(text))
      if (isInRange(variable.domain, std::to_string(*bytes)))
        return std::to_string(*bytes);
    break;
  case EnvType::file:
  case EnvType::pair:
    break;
  }
  return variable.fallback.str();
}
