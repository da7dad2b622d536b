// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LldRun.h.

#include "LldRun.h"
#include "Link/LayoutObject.h"
#include "Link/LldCommand.h"
#include "LinkAdditions.h"
#include "LinkContext.h"
#include "Support/Files.h"
#include "Support/Format.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <unistd.h>
#include <vector>

using namespace llvm;
using namespace mpg;

LLD_HAS_DRIVER(elf)

using namespace llvm;
using namespace mpg;

void mpg::becomeLld(ArrayRef<std::string> command) {
  std::vector<const char *> args;
  for (const std::string &arg : command)
    args.push_back(arg.c_str());
  outs().flush();
  bool linked = lld::elf::link(args, outs(), errs(), /*exitEarly=*/true,
                               /*disableOutput=*/false);
  outs().flush();
  errs().flush();
  sys::Process::Exit(linked ? 0 : 1, /*NoCleanup=*/true);
}

Expected<Child> mpg::startLld(ArrayRef<std::string> command, MemoryFile *out,
                              MemoryFile *err) {
  outs().flush();
  errs().flush();
  Expected<Child> child = Child::start([&] {
    if (out)
      out->replace(STDOUT_FILENO);
    if (err)
      err->replace(STDERR_FILENO);
    becomeLld(command);
  });
  if (!child)
    return createStringError(inconvertibleErrorCode(),
                             "cannot run lld: " + toString(child.takeError()));
  return child;
}

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
