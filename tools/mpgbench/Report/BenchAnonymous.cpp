// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results that may be given to anybody: see BenchReport.h. Texts of a run come
// from the system as well (reasons with file names, the release of a kernel
// that was built at a site), so words are taken out of all of them rather than
// of those that are known to have some.

#include "mpgbench/Report/BenchReport.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cstdlib>
#include <gnu/libc-version.h>
#include <pwd.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

/// Of a name: what stands on both sides of it must be none.
static bool isNamePart(char c) { return isAlnum(c) || c == '_'; }

std::vector<std::string> mpg::namesOfThisPlace() {
  std::vector<std::string> names;
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) == 0) {
    names.push_back(host);
    names.push_back(StringRef(host).split('.').first.str());
  }
  if (const passwd *user = getpwuid(getuid()))
    names.push_back(user->pw_name);
  for (const char *variable : {"USER", "LOGNAME", "SUDO_USER", "HOSTNAME"})
    if (const char *value = getenv(variable))
      names.push_back(value);
  return names;
}

/// Length of the absolute path at the start of \p text; 0 if there is none. "GB
/// / s" has none, and "triad/pages=2M" does not begin with one.
static size_t pathLength(StringRef text) {
  if (text.size() < 2 || text[0] != '/' || !isNamePart(text[1]))
    return 0;
  return std::min(text.find_first_of(" \t\n'\"()<>,;:"), text.size());
}

static std::string withoutName(StringRef text, StringRef name) {
  // The administrator's is in sentences of the program, and no name.
  if (name.size() < 2 || name == "root")
    return text.str();
  std::string result;
  size_t done = 0;
  for (size_t at; (at = text.find(name, done)) != StringRef::npos;) {
    size_t end = at + name.size();
    bool isWord = (at == 0 || !isNamePart(text[at - 1])) &&
                  (end == text.size() || !isNamePart(text[end]));
    result += text.slice(done, at);
    result += isWord ? "(name)" : name;
    done = end;
  }
  result += text.drop_front(done);
  return result;
}

std::string mpg::anonymised(StringRef text,
                            const std::vector<std::string> &names) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    // Names of points have one before each parameter: "reads=100%/bytes=1M".
    bool isStart =
        at == 0 || StringRef(" \t\n'\"(<[=:,.").contains(text[at - 1]);
    size_t length = isStart ? pathLength(text.drop_front(at)) : 0;
    if (length)
      result += "(path)";
    else
      result += text[at];
    at += length ? length : 1;
  }
  for (const std::string &name : names)
    result = withoutName(result, name);
  return result;
}

static void anonymise(PointResult &point,
                      function_ref<void(std::string &)> clean) {
  clean(point.missing);
  for (WorkerResult &sample : point.samples) {
    // The reason for a missing value appears once: the file is to be mailed.
    if (&sample != &point.samples.front())
      erase_if(sample.counters,
               [](const CounterValue &counter) { return !counter.value; });
    for (CounterValue &counter : sample.counters)
      clean(counter.missing);
  }
}

void mpg::anonymise(BenchRun &run, const std::vector<std::string> &names) {
  auto clean = [&](std::string &text) { text = anonymised(text, names); };
  run.date = run.date.substr(0, run.date.find('T'));
  for (auto &[name, value] : run.machine)
    clean(value);
  run.machine.push_back(
      {"C library", std::string("glibc ") + gnu_get_libc_version()});
  run.machine.push_back({"compiler", __VERSION__});
  for (ExperimentResult &experiment : run.experiments) {
    for (Conclusion &conclusion : experiment.conclusions)
      clean(conclusion.text);
    for (PointResult &point : experiment.points)
      ::anonymise(point, clean);
  }
}
