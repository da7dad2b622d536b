// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reader of job scripts against the shell itself: 200 scripts of random
// assignments, quotes and expansions. Whenever the reader knows a value, bash
// has the same one.

#include "JobScript/JobScript.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cstdio>
#include <random>

using namespace llvm;
using namespace mpg;

static constexpr unsigned variables = 6, scripts = 200;

namespace {

/// Random scripts that are valid, end, and use nothing except variables.
class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {}

  std::string script() {
    std::string text;
    for (unsigned i = 0, lines = 4 + pick(10); i < lines; ++i)
      text += command(0) + "\n";
    return text;
  }

private:
  unsigned pick(unsigned count) { return random() % count; }
  std::string name() { return "V" + utostr(pick(variables)); }
  std::string letters() {
    static const char *words[] = {"a", "bc", "12", "7", "x=y", "/p:q", "a.b"};
    return words[pick(std::size(words))];
  }
  std::string expansion();
  std::string piece();
  std::string word();
  std::string assignment();
  std::string command(unsigned depth);
  std::string block(unsigned depth);

  std::mt19937 random;
};

} // namespace

std::string Generator::expansion() {
  static const char *operations[] = {":-", "-", ":+", "+",
                                     ":=", "%", "#",  "%%"};
  switch (pick(8)) {
  case 0:
    return "$" + name();
  case 1:
    return "${" + name() + "}";
  case 2:
    return "${#" + name() + "}";
  case 3:
    return "$(( " + utostr(pick(50)) + " * 3 - " + utostr(pick(9)) + " / 2 ))";
  case 4:
    return "$((" + utostr(pick(50)) + "%7+(" + utostr(pick(9)) + "-5)))";
  case 5:
    return "$[" + utostr(pick(50)) + " - " + utostr(pick(9)) + " * 2]";
  case 6:
    return "$(echo " + letters() + "  \"" + name() + " $" + name() + "\" )";
  default:
    return "${" + name() + operations[pick(std::size(operations))] +
           (pick(3) ? letters() : "$" + name()) + "}";
  }
}

std::string Generator::piece() {
  switch (pick(10)) {
  case 0:
    return "'" + letters() + " $V1 \\'";
  case 1:
    return "\"" + letters() + " " + expansion() + "\\\"\\$\\x'\"";
  case 2:
    return "\\$\\ " + letters();
  case 3:
    return "$'a\\t\\'" + letters() + "'";
  case 4:
    return pick(2) ? "$(echo " + letters() + ")" : "`echo b`";
  case 5:
    return "\"\"";
  case 6:
  case 7:
    return expansion();
  default:
    return letters();
  }
}

std::string Generator::word() {
  std::string text;
  for (unsigned i = 0, pieces = pick(4); i < pieces; ++i)
    text += piece();
  return text;
}

std::string Generator::assignment() {
  switch (pick(8)) {
  case 0:
    return "unset " + name();
  case 1:
    return name() + "+=" + word();
  case 2:
    return name() + "=" + word() + " " + name() + "=" + word();
  case 3:
    return "export " + name() + "=" + word() + " " + name() + "=" + word();
  case 4:
    return "set -- " + word() + " \"" + expansion() + "\"; " + name() +
           "=\"$1-$#\"";
  case 5:
    return name() + "=" + word() + " true " + word();
  default:
    return name() + "=" + word();
  }
}

std::string Generator::block(unsigned depth) {
  std::string one = command(depth + 1), two = command(depth + 1);
  switch (pick(8)) {
  case 0:
    return "if [ -n \"$" + name() + "\" ]; then " + one + "; else " + two +
           "; fi";
  case 1:
    return "if false; then " + one + "; elif true; then " + two + "; fi";
  case 2:
    return "for V0 in a b; do " + one + "; " + two + "; done";
  case 3:
    return "( " + one + "; " + two + " )";
  case 4:
    return "case $" + name() + " in a*) " + one + ";; 7|12) " + two + ";; esac";
  case 5:
    return "f() { local V2=$1; " + one + "; [ -n \"$V3\" ] || return; " + two +
           "; }; f " + letters();
  case 6:
    return "{ " + one + "; } | cat; true | { " + two + "; }";
  default:
    return "[ -z \"$" + name() + "\" ] && { " + one + "; } || { " + two + "; }";
  }
}

std::string Generator::command(unsigned depth) {
  return depth < 3 && !pick(4) ? block(depth) : assignment();
}

/// The variables in bash after each of the scripts.
static std::vector<std::string>
runInBash(StringRef bash, const std::vector<std::string> &texts) {
  SmallString<128> path;
  int file;
  if (sys::fs::createTemporaryFile("job-script", "sh", file, path))
    return {};
  {
    raw_fd_ostream out(file, /*shouldClose=*/true);
    for (const std::string &text : texts) {
      out << "(\n" << text << "\n";
      for (unsigned i = 0; i < variables; ++i)
        out << "printf '%s\\0' \"${V" << i << "-unset}\"\n";
      out << ")\n";
    }
  }
  std::string all, command = ("env -i " + bash + " " + path).str();
  if (FILE *pipe = popen(command.c_str(), "r")) {
    char buffer[4096];
    while (size_t length = fread(buffer, 1, sizeof buffer, pipe))
      all.append(buffer, length);
    pclose(pipe);
  }
  sys::fs::remove(path);
  std::vector<std::string> values;
  for (size_t at = 0; at < all.size();) {
    size_t end = all.find('\0', at);
    values.push_back(all.substr(at, end - at));
    at = end == std::string::npos ? all.size() : end + 1;
  }
  return values;
}

TEST(JobScriptBash, KnownValuesAreThoseOfBash) {
  ErrorOr<std::string> bash = sys::findProgramByName("bash");
  if (!bash)
    GTEST_SKIP() << "no bash to compare with";
  Generator generator(20240229);
  std::vector<std::string> texts;
  for (unsigned i = 0; i < scripts; ++i)
    texts.push_back(generator.script());
  std::vector<std::string> values = runInBash(*bash, texts);
  ASSERT_EQ(values.size(), size_t(scripts) * variables);

  unsigned known = 0;
  for (unsigned i = 0; i < scripts; ++i) {
    std::string end = "export";
    for (unsigned v = 0; v < variables; ++v)
      end += " V" + utostr(v);
    JobScript script = readJobScript(texts[i] + end + "\n./a\n", "job.sh");
    ASSERT_EQ(script.launches.size(), 1u) << texts[i];
    const Environment &environment = script.launches[0].launch.environment;
    for (unsigned v = 0; v < variables; ++v) {
      const Variable *variable = environment.find("V" + utostr(v));
      if (variable && !variable->known)
        continue;
      ++known;
      EXPECT_EQ(variable ? variable->value : "unset", values[i * variables + v])
          << "V" << v << " of\n"
          << texts[i];
    }
  }
  // A reader that knows nothing would never be wrong.
  EXPECT_GT(known, scripts * variables / 5);
}
