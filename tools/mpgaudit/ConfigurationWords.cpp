// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ConfigurationWords.h"

using namespace llvm;
using namespace mpg;

static constexpr StringRef keys[] = {
    "target",        "page",   "huge",    "min",     "memory",
    "expect-libmpg", "checks", "closure", "fail-on", "format",
    "env",           "jobs",   "sysroot", "baseline"};

ArrayRef<StringRef> mpg::configurationKeys() { return keys; }

static std::string wordOf(const std::string &key, const std::string &value) {
  if (key == "closure")
    return value == "true" ? "--closure" : "--no-closure";
  if (key == "expect-libmpg")
    return value == "true" ? "--expect-libmpg" : "";
  return "--" + key + "=" + value;
}

std::vector<ConfigurationWord>
mpg::wordsOf(const Configuration &configuration,
             const std::function<bool(StringRef)> &isGiven) {
  std::vector<ConfigurationWord> words;
  for (size_t i = 0; i < configuration.options.size(); ++i) {
    const auto &[key, value] = configuration.options[i];
    std::string word = wordOf(key, value);
    // Variables are a set: those of the command line are added.
    if (!word.empty() && (key == "env" || !isGiven(key)))
      words.push_back({word, configuration.lines[i]});
  }
  return words;
}
