// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SimOutput.h"
#include "Support/Format.h"

using namespace llvm;
using namespace mpg;

raw_ostream &mpg::simError() { return errs() << "mpgsim: error: "; }

std::unique_ptr<raw_fd_ostream> mpg::openSimFile(const std::string &path) {
  std::error_code code;
  auto file = std::make_unique<raw_fd_ostream>(path, code);
  if (!code)
    return file;
  simError() << "cannot write " << printable(path) << ": " << code.message()
             << "\n";
  return nullptr;
}

bool SimOutput::open() {
  for (auto [path, file] : {std::pair(&options.html, &html),
                            {&options.output, &output},
                            {&options.record, &recordFile}})
    if (!path->empty() && !(*file = openSimFile(*path)))
      return false;
  return true;
}

bool SimOutput::write(const SimReport &report) {
  // Standard output is the program's, if there is one.
  raw_fd_ostream &standard = options.merges ? outs() : errs();
  raw_fd_ostream &out = output ? *output : standard;
  if (options.json)
    writeSimJson(out, report);
  else if (options.csv)
    writeSimCsv(out, report);
  else
    writeSimText(out, report);
  if (html)
    writeSimHtml(*html, report);
  for (auto [path, file] : {std::pair(&options.html, html.get()),
                            {&options.output, output.get()},
                            {&options.record, recordFile.get()}}) {
    if (!file)
      continue;
    file->flush();
    if (!file->has_error())
      continue;
    simError() << "cannot write " << printable(*path) << ": "
               << file->error().message() << "\n";
    file->clear_error();
    return false;
  }
  return true;
}
