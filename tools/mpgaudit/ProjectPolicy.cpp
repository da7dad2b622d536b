// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ProjectPolicy.h.

#include "ProjectPolicy.h"
#include <ctime>

using namespace llvm;
using namespace mpg;

/// "2026-11-22", in the time zone of the user.
static std::string today() {
  time_t now = time(nullptr);
  tm parts = {};
  char text[16];
  if (!localtime_r(&now, &parts) ||
      !strftime(text, sizeof text, "%Y-%m-%d", &parts))
    return "";
  return text;
}

ProjectPolicy::ProjectPolicy(const Options &options)
    : options(options), suppressor(options.suppressions, today()) {}

Error ProjectPolicy::start() {
  // A new one takes the place of the old, whatever that is.
  if (options.baseline.empty() || !options.writeBaseline.empty())
    return Error::success();
  Expected<Baseline> baseline = Baseline::read(options.baseline);
  if (!baseline)
    return baseline.takeError();
  known = std::move(*baseline);
  return Error::success();
}

void ProjectPolicy::apply(std::vector<Finding> &findings, StringRef path,
                          const FindingSet *looked) {
  removed += suppressor.apply(findings, path, looked);
  if (!options.writeBaseline.empty()) {
    std::lock_guard<std::mutex> hold(mutex);
    for (const Finding &finding : findings)
      found.add(finding, path);
  }
  if (known)
    removed += known->apply(findings, path);
}

Error ProjectPolicy::finish() {
  return options.writeBaseline.empty() ? Error::success()
                                       : found.write(options.writeBaseline);
}

std::vector<std::string> ProjectPolicy::complaints() const {
  return suppressor.complaints(/*whole=*/options.recursive);
}
