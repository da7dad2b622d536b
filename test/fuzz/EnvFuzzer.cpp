// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The environment as libmpg reads it, on any bytes: each line of the input is
// one entry. Beyond not crashing: the values that PRINT_ENV prints are accepted
// and in force again when they are the environment.

#include "base/Env.h"
#include "base/Messages.h"
#include <cstdlib>
#include <string>
#include <vector>

using namespace mpg;

/// Entries as in `environ`, and the values read from them.
struct Reading {
  explicit Reading(std::vector<std::string> given) : entries(std::move(given)) {
    for (const std::string &entry : entries)
      pointers.push_back(entry.c_str());
    pointers.push_back(nullptr);
    Messages messages;
    readAudience(pointers.data(), config);
    readSettings(pointers.data(), config, messages);
  }

  /// "NAME=VALUE" in force, without what was asked for.
  std::vector<std::string> inForce() const {
    std::vector<std::string> all;
    for (size_t index = 0; index < variableCount; ++index) {
      LineBuffer line;
      addSetting(line, Variable(index), config, pointers.data());
      std::string text = line.text();
      text = text.substr(0, text.find(" ("));
      size_t limit = text.find("ULONG_MAX");
      if (limit != std::string::npos)
        text.replace(limit, std::string::npos, std::to_string(UINT64_MAX));
      all.push_back(text);
    }
    return all;
  }

  std::vector<std::string> entries;
  std::vector<const char *> pointers;
  Config config;
};

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<std::string> entries(1);
  for (size_t at = 0; at < size; ++at)
    if (data[at] == '\n')
      entries.emplace_back();
    else if (data[at] != '\0')
      entries.back().push_back(char(data[at]));
  std::vector<std::string> shown = Reading(std::move(entries)).inForce();
  // The two that are mpgrun's own are not shown and have no default.
  std::vector<std::string> again;
  for (const std::string &entry : shown)
    if (entry.back() != '=')
      again.push_back(entry);
  if (Reading(std::move(again)).inForce() != shown)
    abort();
  return 0;
}
