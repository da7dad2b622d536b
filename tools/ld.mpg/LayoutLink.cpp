// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LinkContext.h. Keeps lld's output (a map, a trace) and shows it once, for
// the link that counts. The warnings are the same for both links: shows those
// of the first one.

#include "Child.h"
#include "Link/InputScan.h"
#include "Link/LayoutObjects.h"
#include "Link/LldCommand.h"
#include "LinkContext.h"
#include "Support/Files.h"
#include "Support/Format.h"
#include "Support/Threads.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <deque>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace llvm;
using namespace mpg;

// One run of lld. lld itself is linked in as a library. It runs by a plan
// (lib/Link/InputScan.h), with the two added objects
// (lib/Link/LayoutObjects.h), and leaves no trace of them but in a map. lld
// ends its process without tidying up, which would cost a few percent of a
// large link; where there is something left to do afterwards it therefore runs
// in a child (Child.h).

namespace {

class LldRun {
public:
  /// Starts lld. Its output goes to \p out and \p err instead of the terminal
  /// if these are given. pre: the machine is known.
  static llvm::Expected<LldRun> start(const LinkContext &link,
                                      const LinkPlan &plan, MemoryFile *out,
                                      MemoryFile *err);
  /// Waits for the end. True if lld has linked.
  bool wait() { return child.wait(); }
  /// Waits for the end, and for lld's exit status. \p out: that of start(); it
  /// then has no lines about the added objects.
  int finish(const LinkContext &link, MemoryFile *out);
  /// Ends lld before its end.
  void stop() { child.stop(); }

private:
  MemoryFile first, last; ///< as long as lld runs
  Child child;
};

} // namespace

LLD_HAS_DRIVER(elf)

/// Whether this process may have \p count threads more at once.
static bool canHaveThreads(size_t count) {
  std::mutex gate;
  auto passGate = [&] { std::lock_guard<std::mutex> passing(gate); };
  std::deque<Thread> threads;
  bool hasAll = true;
  gate.lock();
  while (hasAll && threads.size() < count)
    hasAll = threads.emplace_back().start(passGate) == 0;
  gate.unlock();
  for (Thread &thread : threads)
    thread.join();
  return hasAll;
}

/// lld crashes if the system refuses it a thread; as GNU ld, it can do without.
static bool needsOneThread(ArrayRef<std::string> command) {
  constexpr unsigned maxLldThreads = 16;
  for (StringRef arg : command)
    if (arg.ltrim('-').starts_with("threads"))
      return false;
  return !canHaveThreads(
      std::min(maxLldThreads, std::thread::hardware_concurrency()));
}

/// Runs lld as ld.lld does; does not return.
[[noreturn]] static void becomeLld(ArrayRef<std::string> command) {
  std::vector<const char *> args;
  for (const std::string &arg : command)
    args.push_back(arg.c_str());
  if (needsOneThread(command))
    args.push_back("--threads=1");
  outs().flush();
  bool linked = lld::elf::link(args, outs(), errs(), /*exitEarly=*/true,
                               /*disableOutput=*/false);
  outs().flush();
  errs().flush();
  sys::Process::Exit(linked ? 0 : 1, /*NoCleanup=*/true);
}

/// Starts lld. Its output goes to \p out and \p err instead of the terminal if
/// these are given.
static Expected<Child> startLld(ArrayRef<std::string> command,
                                MemoryFile *out = nullptr,
                                MemoryFile *err = nullptr) {
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

static LayoutObjects findObjects(const LinkContext &link,
                                 const LinkPlan &plan) {
  LayoutWish wish = {link.request.hugeBytes, plan.large, plan.lateSections,
                     plan.text};
  return plan.align ? writeLayoutObjects(*link.scan.machine, wish)
                    : writeSkippedObjects(*link.scan.machine, wish);
}

Expected<LldRun> LldRun::start(const LinkContext &link, const LinkPlan &plan,
                               MemoryFile *out, MemoryFile *err) {
  LayoutObjects objects = findObjects(link, plan);
  Expected<MemoryFile> first = MemoryFile::create(objects.first);
  if (!first)
    return first.takeError();
  Expected<MemoryFile> last = MemoryFile::create(objects.last);
  if (!last)
    return last.takeError();
  Additions additions;
  additions.firstObject = first->path();
  additions.alignSegments = plan.align;
  additions.alignText = plan.text;
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

/// Names of files that exist only in this process must not be remembered. False
/// after an error, which it says: make would take half of a list for all of it.
static bool cleanDependencyFile(const std::string &path,
                                ArrayRef<std::string> ours) {
  if (!sys::fs::is_regular_file(path))
    return true;
  auto file = readUnmapped(path);
  std::error_code code = file.getError();
  if (!code)
    code = writeOutputFile(path, [&](raw_ostream &out) {
      out << withoutPaths((*file)->getBuffer(), ours);
    });
  if (code)
    error() << "cannot write " << printable(path) << ": " << code.message()
            << "\n";
  return !code;
}

int LldRun::finish(const LinkContext &link, MemoryFile *out) {
  child.wait();
  // lld maps the output: the kernel has no other way to say it.
  if (child.signalNumber() == SIGBUS)
    note() << "lld was ended by SIGBUS while it linked "
           << printable(link.request.outputPath)
           << ": the disk is full, or a file became shorter meanwhile\n";
  int status = child.finish();
  const std::string ours[] = {first.path(), last.path()};
  if (status == 0 && !cleanDependencyFile(link.request.dependencyFile, ours)) {
    removeOutput(link.request.dependencyFile);
    removeOutput(link.request.outputPath);
    status = 1;
  }
  std::string printed = out ? out->contents() : "";
  if (printed.empty())
    return status;
  auto kept = MemoryFile::create(withoutPaths(printed, ours)); // of --trace
  if (!kept)
    return failed(kept.takeError());
  *out = std::move(*kept);
  return status;
}

/// Runs lld from beginning to end; its exit status.
static int runLld(const LinkContext &link, const LinkPlan &plan,
                  MemoryFile *out, MemoryFile *err) {
  Expected<LldRun> run = LldRun::start(link, plan, out, err);
  return run ? run->finish(link, out) : failed(run.takeError());
}

// The link

namespace {

/// Output of lld, kept.
struct Printed {
  MemoryFile out, err;
};

} // namespace

static Expected<Printed> makePrinted() {
  Expected<MemoryFile> out = MemoryFile::create("");
  if (!out)
    return out.takeError();
  Expected<MemoryFile> err = MemoryFile::create("");
  if (!err)
    return err.takeError();
  return Printed{std::move(*out), std::move(*err)};
}

/// lld runs by \p plan while the archives are scanned. When they change the
/// plan, what this run has made and said is thrown away, and lld runs again; so
/// it does when it had to load a pass plugin that it cannot load.
static int linkWhileScanning(LinkContext &link, ArrayRef<LinkInput> unscanned,
                             LinkPlan &plan, MemoryFile &printed) {
  const std::string &outputPath = link.request.outputPath;
  Expected<Printed> kept = makePrinted();
  if (!kept)
    return failed(kept.takeError());
  sys::fs::UniqueID before = outputId(outputPath);
  Expected<LldRun> run = LldRun::start(link, plan, &kept->out, &kept->err);
  if (!run)
    return failed(run.takeError());
  scanNow(link, unscanned);
  bool fits = link.scan.bitcodeBytes == 0 || checkPassPlugin(link);
  LinkPlan better = planOfInputs(link.request, link.scan);
  // There can be bitcode that was not looked at, named in a script.
  if (fits && better == plan && !run->wait())
    fits = checkPassPlugin(link, /*isNeeded=*/true);
  if (!fits || better != plan) {
    run->stop();
    checkPassPlugin(link); // what the next run says is seen at once
    if (outputId(outputPath) != before)
      removeOutput(outputPath);
    plan = better;
    return runLld(link, plan, &printed, nullptr);
  }
  run->wait();
  errs() << kept->err.contents();
  errs().flush();
  printed = std::move(kept->out);
  return run->finish(link, &printed);
}

/// The link by the plan that the inputs ask for.
static int linkFirst(LinkContext &link, ArrayRef<LinkInput> unscanned,
                     LinkPlan &plan, MemoryFile &printed) {
  if (unscanned.empty() || link.scan.bitcodeBytes > 0 || link.request.fatLto)
    checkPassPlugin(link);
  plan = planOfInputs(link.request, link.scan);
  // The output may be standard output by another name.
  bool special = isSpecialOutput(link.request.outputPath);
  int status = unscanned.empty()
                   ? runLld(link, plan, special ? nullptr : &printed, nullptr)
                   : linkWhileScanning(link, unscanned, plan, printed);
  if (status == 0)
    return 0;
  outs() << printed.contents();
  explainFailure(link);
  return status;
}

/// The second link, when the first one has shown that \p plan is better.
static int linkAgain(const LinkContext &link, const LinkPlan &plan,
                     MemoryFile &printed) {
  Expected<Printed> kept = makePrinted();
  if (!kept) {
    removeOutput(link.request.outputPath);
    return failed(kept.takeError());
  }
  Expected<LldRun> run = LldRun::start(link, plan, &kept->out, &kept->err);
  if (run && run->wait()) {
    printed = std::move(kept->out);
    return run->finish(link, &printed);
  }
  removeOutput(link.request.outputPath);
  if (!run)
    return failed(run.takeError());
  outs() << kept->out.contents();
  outs().flush();
  errs() << kept->err.contents();
  explainFailure(link);
  // If a signal ended lld, this ends with the same one.
  return run->finish(link, nullptr);
}

/// Tells what of the layout is missing. Exit status.
static int checkPromise(const LinkRequest &request, const OutputFacts &output) {
  bool isError = request.promise == LayoutPromise::strict;
  for (const std::string &reason : output.broken)
    (isError ? error() : warning())
        << printable(request.outputPath) << ": " << printable(reason) << "\n";
  if (!isError || output.broken.empty())
    return 0;
  removeOutput(request.outputPath);
  note() << "the output was removed; --mpg-layout=best-effort keeps it, "
            "--no-mpg-layout links as ld.lld does\n";
  return 1;
}

/// Code that is not on borders runs as well: it is never an error.
static void warnOfText(const LinkRequest &request, const OutputFacts &output) {
  if (!output.textBroken.empty())
    warning() << printable(request.outputPath)
              << ": --mpg-text: " << output.textBroken.front() << "\n";
}

static void noteText(const LinkRequest &request, const LinkPlan &plan,
                     const OutputFacts &output) {
  if (plan.text)
    warnOfText(request, output);
  else if (isForReader(request))
    note() << printable(request.outputPath)
           << ": --mpg-text has nothing to gain: neither code nor constants "
              "have more than "
           << formatBytes(output.textBytes) << ", less than a large page\n";
}

int mpg::linkWithLayout(LinkContext &link, ArrayRef<LinkInput> unscanned) {
  const LinkRequest &request = link.request;
  Expected<MemoryFile> printed = MemoryFile::create("");
  if (!printed)
    return failed(printed.takeError());
  LinkPlan plan;
  if (int status = linkFirst(link, unscanned, plan, *printed))
    return status;
  OutputFacts output = readOutput(request.outputPath, request.hugeBytes);
  LinkPlan better = planOfOutput(request, link.scan, plan, output);
  if (better != plan) {
    if (int status = linkAgain(link, better, *printed))
      return status;
    output = readOutput(request.outputPath, request.hugeBytes);
  }
  outs() << printed->contents();
  int status = better.align ? checkPromise(request, output) : 0;
  if (status == 0 && request.text)
    noteText(request, better, output);
  if (status == 0)
    noteRuntime(link);
  return status;
}

/// Looks for what is added even without the layout. False if it is missing,
/// which has been said then.
static bool findAdditions(LinkContext &link) {
  if (link.request.runtime == RuntimeChoice::yes &&
      link.request.output != OutputKind::other && !findRuntime(link))
    return false;
  checkPassPlugin(link);
  return true;
}

static std::vector<std::string> plainCommand(const LinkContext &link) {
  Additions additions;
  additions.passPlugin = link.passPlugin;
  addRuntime(link, additions);
  return lldCommand(link.request, additions);
}

/// lld's version comes first: build systems look there for the linker's kind.
static int printVersions(const LinkContext &link) {
  Expected<Child> child = startLld(plainCommand(link));
  if (!child)
    return failed(child.takeError());
  int status = child->finish();
  outs() << "ld.mpg (mpgtools) " MPG_VERSION "\n";
  return status;
}

int mpg::linkAsIs(LinkContext &link) {
  if (!findAdditions(link))
    return 1;
  if (link.request.version)
    return printVersions(link);
  becomeLld(plainCommand(link));
}

static void warnOfLayout(const LinkRequest &request,
                         const OutputFacts &output) {
  warning() << printable(request.outputPath) << ": '"
            << printable(request.userScript)
            << "' decides the layout, and it does not suit large pages:\n";
  for (const std::string &reason : output.broken)
    warning() << printable(request.outputPath) << ": " << printable(reason)
              << "\n";
}

int mpg::linkUnderScript(LinkContext &link) {
  if (!findAdditions(link))
    return 1;
  Expected<Child> child = startLld(plainCommand(link));
  if (!child)
    return failed(child.takeError());
  if (int status = child->finish())
    return status;
  const LinkRequest &request = link.request;
  OutputFacts output = readOutput(request.outputPath, request.hugeBytes);
  if (output.dataBytes >= request.minBytes && !output.broken.empty())
    warnOfLayout(request, output);
  if (request.text)
    warnOfText(request, output);
  return 0;
}
