// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A profiler's output on any bytes, and the advice made from it. Beyond not
// crashing: an error is one line that begins with the file; problems refer to
// existing lines; everything in the advice except the export lines is a
// comment, and it ends.

#include "Advice/Recommend.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace llvm;
using namespace mpg;

static void check(bool holds) {
  if (!holds)
    abort();
}

static void checkText(StringRef text) {
  check(text.ends_with("\n"));
  SmallVector<StringRef, 64> lines;
  text.drop_back().split(lines, '\n');
  for (StringRef line : lines)
    check(line.starts_with("#") || line.starts_with("export "));
}

static void checkAdvice(const Measurement &measurement, Target target) {
  FileReport program = {};
  program.path = "./app";
  program.kind = ElfKind::exec;
  program.target = target;
  const Measurement *measured[] = {&measurement};
  Advice advice = recommend(program, nullptr, nullptr, std::nullopt, measured);
  // Each measurement has at least one line, if only to say that it has none.
  check(!advice.verdicts.empty());
  std::string text, json;
  raw_string_ostream out(text), jsonOut(json);
  writeAdvice(out, advice, program.path);
  checkText(text);
  text.clear();
  writeAdvice(out, advice, program.path, /*brief=*/true);
  checkText(text);
  writeAdviceJson(jsonOut, advice, program.path);
  check(bool(json::parse(json)));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef text(reinterpret_cast<const char *>(data), size);
  Expected<Measurement> measurement = parseMeasurement(text, "p");
  if (!measurement) {
    std::string error = toString(measurement.takeError());
    check(StringRef(error).starts_with("p:") &&
          !StringRef(error).contains('\n'));
    return 0;
  }
  for (const MeasuredProblem &problem : measurement->problems)
    check(problem.line <= text.count('\n') + 1);
  for (Target target : {Target::fugaku, Target::mpg, Target::thp})
    checkAdvice(*measurement, target);
  return 0;
}
