// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LldRun.h.

#include "LldRun.h"
#include "Link/DependencyFile.h"
#include "Link/LayoutObject.h"
#include "LinkMessages.h"
#include "LinkRuntime.h"
#include "LldProcess.h"
#include "Support/Format.h"
#include "Support/ReadFile.h"
#include "llvm/Support/Process.h"
#include <csignal>

using namespace llvm;
using namespace mpg;

static LayoutObjects objectsOf(const LinkContext &link, const LinkPlan &plan) {
  uint64_t hugeBytes = link.request.hugeBytes;
  return plan.align
             ? writeLayoutObjects(*link.scan.machine,
                                  {hugeBytes, plan.large, plan.lateSections})
             : writeSkippedObjects(*link.scan.machine, hugeBytes);
}

Expected<LldRun> LldRun::start(const LinkContext &link, const LinkPlan &plan,
                               MemoryFile *out, MemoryFile *err) {
  LayoutObjects objects = objectsOf(link, plan);
  Expected<MemoryFile> first = MemoryFile::create(objects.first);
  if (!first)
    return first.takeError();
  Expected<MemoryFile> last = MemoryFile::create(objects.last);
  if (!last)
    return last.takeError();
  Additions additions;
  additions.firstObject = first->path();
  additions.alignSegments = plan.align;
  additions.passPlugin = link.passPlugin;
  addRuntime(link, additions);
  if (!objects.last.empty())
    additions.lastObject = last->path();
  additions.color = err && sys::Process::StandardErrHasColors();
  Expected<Child> child =
      startLld(lldCommand(link.request, additions), out, err);
  if (!child)
    return child.takeError();
  LldRun run;
  run.first = std::move(*first);
  run.last = std::move(*last);
  run.child = *child;
  return run;
}

/// Names of files that exist only in this process must not be remembered.
static void cleanDependencyFile(const std::string &path,
                                ArrayRef<std::string> ours) {
  if (path.empty())
    return;
  auto file = readUnmapped(path);
  if (!file)
    return;
  std::string text = withoutDependencies((*file)->getBuffer(), ours);
  std::error_code code;
  raw_fd_ostream out(path, code);
  if (code)
    return;
  out << text;
  out.close();
  if (out.has_error())
    warning() << "cannot write " << printable(path) << ": "
              << out.error().message() << "\n";
  out.clear_error();
}

int LldRun::finish(const LinkContext &link) {
  child.wait();
  // lld maps the output: the kernel has no other way to say it.
  if (child.signalNumber() == SIGBUS)
    note() << "lld was ended by SIGBUS while it linked "
           << printable(link.request.outputPath)
           << ": the disk is full, or a file became shorter meanwhile\n";
  int status = child.finish();
  if (status == 0)
    cleanDependencyFile(link.request.dependencyFile,
                        {first.path(), last.path()});
  return status;
}

int mpg::runLld(const LinkContext &link, const LinkPlan &plan, MemoryFile *out,
                MemoryFile *err) {
  Expected<LldRun> run = LldRun::start(link, plan, out, err);
  return run ? run->finish(link) : failed(run.takeError());
}
