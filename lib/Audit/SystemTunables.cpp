// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SystemTunables.h. The format is that of tunables.conf(5) and of the
// manual of glibc 2.44, "System-wide Tunables".

#include "Audit/SystemTunables.h"
#include "Loader/LoaderSearch.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

/// "[proc:/usr/bin/app]" is for one file, "[proc:app]" for all of that name,
/// "[]" for every program.
static bool isFilterFor(StringRef filter, SmallString<256> program) {
  if (sys::fs::make_absolute(program))
    return false;
  filter = filter.drop_front().take_until([](char c) { return c == ']'; });
  if (filter.empty())
    return true;
  if (!filter.consume_front("proc:"))
    return false;
  return filter == (filter.starts_with("/") ? StringRef(program)
                                            : sys::path::filename(program));
}

/// Takes the prefixes of a line away. False: it is not for usual programs.
static bool readPrefixes(StringRef &line, bool &isFixed) {
  bool isForUsual = true;
  while (!line.empty()) {
    auto word = [&](StringRef name, char sign) {
      StringRef rest = line;
      if (!rest.consume_front(StringRef(&sign, 1)) &&
          !(rest.consume_front(name) && rest.starts_with(" ")))
        return false;
      line = rest.ltrim();
      return true;
    };
    if (word("nonoverridable", '-'))
      isFixed = true;
    else if (word("overridable", '+'))
      isFixed = false;
    else if (word("onlysecure", '@'))
      isForUsual = false;
    else if (word("nonsecure", '$') || word("anysecure", '*'))
      isForUsual = true;
    else
      break;
  }
  return isForUsual;
}

std::optional<SystemTunable>
mpg::findSystemTunable(StringRef sysroot, StringRef name, StringRef program) {
  constexpr uint64_t maxBytes = 1 << 20;
  std::optional<std::string> text =
      readWholeFile((sysroot + systemTunablesFile).str(), maxBytes);
  std::optional<SystemTunable> found;
  if (!text)
    return found;
  SmallVector<StringRef, 16> lines;
  StringRef(*text).split(lines, '\n');
  bool isForProgram = true;
  for (unsigned i = 0; i < lines.size(); ++i) {
    StringRef line = lines[i].split('#').first.trim();
    SystemTunable tunable;
    tunable.line = i + 1;
    bool isForUsual = readPrefixes(line, tunable.isFixed);
    if (line.starts_with("[")) {
      isForProgram = isFilterFor(line, SmallString<256>(program));
      continue;
    }
    auto [key, value] = line.split('=');
    if (!isForUsual || !isForProgram || key.trim() != name ||
        value.trim().empty())
      continue;
    tunable.value = value.trim().str();
    found = tunable;
  }
  return found;
}
