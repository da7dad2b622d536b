// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The configuration file on any bytes, and the options read from it. Beyond not
// crashing: an error is one line that begins with the file; every option is
// known, has a value and a line of the file; every suppression has a finding
// and a reason, and can be matched against any path.

#include "Policy/Policy.h"
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

/// The configuration is read from a file, as users have one.
static std::string inputFile(const uint8_t *data, size_t size) {
  static const int file = memfd_create("configuration", 0);
  if (file < 0 || ftruncate(file, 0) ||
      pwrite(file, data, size, 0) != ssize_t(size))
    abort();
  return "/proc/self/fd/" + std::to_string(file);
}

static void check(bool holds) {
  if (!holds)
    abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // Name, is a switch, a list, a path.
  static constexpr ConfigurationKey keys[] = {
      {"target"}, {"checks", false, true},          {"env", false, true},
      {"jobs"},   {"baseline", false, false, true}, {"closure", true}};
  std::string path = inputFile(data, size);
  Expected<Configuration> read = readConfiguration(path, keys);
  if (!read) {
    std::string reason = toString(read.takeError());
    check(StringRef(reason).starts_with(path + ":") &&
          reason.find('\n') == std::string::npos);
    return 0;
  }
  StringRef text(reinterpret_cast<const char *>(data), size);
  for (const Configuration::Entry &entry : read->entries) {
    check(!entry.value.empty() && llvm::any_of(keys, [&](const auto &key) {
      return key.name == entry.key;
    }));
    check(entry.line >= 1 &&
          entry.line <= text.count('\n') + text.count('\r') + 1);
  }
  for (const Suppression &entry : read->suppressions)
    check(StringRef(entry.id).starts_with("MPG") && !entry.reason.empty());
  Suppressor suppressor(std::move(read->suppressions), "2026-11-22");
  for (StringRef audited : {"", "/", "bin/app", "lib.a(x/y.o)"}) {
    std::vector<Finding> findings(1);
    findings[0].id = FindingId::mpg130;
    findings[0].severity = Severity::warning;
    findings[0].where.symbol = "sbrk";
    suppressor.apply(findings, audited);
  }
  for (const std::string &line : suppressor.complaints(true))
    check(StringRef(line).starts_with(path + ":"));
  return 0;
}
