// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PageMeans.h. The format is that of tunables.conf(5) and of the
// manual of glibc 2.44, "System-wide Tunables".

#include "Audit/PageMeans.h"
#include "Loader/LoaderSearch.h"
#include "llvm/ADT/SmallString.h"
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
  std::optional<SystemTunable> found;
  bool isForProgram = true;
  auto readLine = [&](StringRef line, StringRef file, unsigned number) {
    if (number == 0) // a filter ends with its file
      isForProgram = true;
    SystemTunable tunable;
    bool isForUsual = readPrefixes(line, tunable.isFixed);
    if (line.starts_with("[")) {
      isForProgram = isFilterFor(line, SmallString<256>(program));
      return;
    }
    auto [key, value] = line.split('=');
    if (!isForUsual || !isForProgram || key.trim() != name ||
        value.trim().empty())
      return;
    tunable.value = value.trim().str();
    file.consume_front(sysroot);
    tunable.file = file.str();
    tunable.line = number;
    found = std::move(tunable);
  };
  readConfigLines(sysroot.str(), systemTunablesFile, readLine);
  return found;
}
