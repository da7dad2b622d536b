// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ld.mpg: lld with .data and .bss on large pages of their own. lld is linked in
// as a library; what is added to its command line is decided in
// lib/Link/DriverArgs.h, how the layout is made in lib/Link/LayoutObject.h.
//
// lld runs in a child (Child.h), in the way in which ld.lld runs it: it ends
// the process without tidying up, which would cost a few percent of a large
// link.
//
// The layout is wanted only where .data and .bss are large, and how large they
// are is known only after the link. So the size is guessed from the inputs, the
// link runs accordingly, and the output is measured. Only when the guess was
// wrong a second link follows: in practice a small program that is linked from
// large archives, which is quick.
// Objects are looked at first. When they hold little, lld starts while the
// archives are still being looked at (ScanChild.h), as if these held little
// too; if they do not, it is stopped and starts again. What is made depends on
// the inputs only, never on who is quicker. A second link that would not be
// quick (a large output, LTO) is not worth the 2 MiB that it would save: the
// layout then stays although the data is small.
//
// LTO code gets mpgtools' pass plugin if it lies beside this program. lld is
// given it in every link, because bitcode can lie in any archive and lld loads
// it only when it compiles some. Whether lld can load it is looked at first
// where there is bitcode, and else when the link has failed (PluginCheck.h).
//
// lld's messages and exit status pass through untouched. It writes its output
// in one step; an output that fails the check afterwards is removed.

#include "Child.h"
#include "Elf/Image.h"
#include "Link/DriverArgs.h"
#include "Link/InputScan.h"
#include "Link/LayoutCheck.h"
#include "Link/LayoutObject.h"
#include "MemoryFile.h"
#include "PluginCheck.h"
#include "ScanChild.h"
#include "Support/Format.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/StringSaver.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace llvm;
using namespace mpg;

namespace {

// A second link is worth it below both: it then takes less than a second.
constexpr uint64_t quickOutputBytes = 64 << 20;
constexpr uint64_t quickBitcodeBytes = 1 << 20;

/// How one run of lld is to lay out its output.
struct Plan {
  bool align = false; ///< false: the layout is skipped
  bool large = false; ///< .ldata and .lbss as well
  std::vector<std::string> lateSections;
  bool operator==(const Plan &other) const {
    return align == other.align && large == other.large &&
           lateSections == other.lateSections;
  }
};

/// What a finished output holds.
struct Measured {
  bool readable = false;
  bool sized = false; ///< dataBytes is known: there are section headers
  uint64_t fileBytes = 0;
  uint64_t dataBytes = 0;
  bool large = false;
  std::vector<std::string> lateSections; ///< behind the end of the layout
  std::vector<std::string> broken;       ///< promises of the layout
};

/// One run of lld, and the files that must exist as long as it runs.
struct LldRun {
  MemoryFile first, last;
  Child child;
};

class Linker {
public:
  Linker(LinkRequest request, std::string programPath)
      : request(std::move(request)), programPath(std::move(programPath)) {}
  int run();

private:
  std::vector<std::string> plainCommand() const;
  void addRuntime(Additions &additions) const;
  int linkAsIs();
  int linkUnderScript();
  int linkWithLayout();
  int relink(const Plan &plan, MemoryFile &printed);
  int linkOnce(const Plan &plan, MemoryFile *out, MemoryFile *err);
  int linkWhileScanning(Plan &plan, MemoryFile &printed);
  Expected<LldRun> startLld(const Plan &plan, MemoryFile *out,
                            MemoryFile *err) const;
  int finishLld(LldRun &run) const;
  void scanNow(ArrayRef<LinkInput> inputs);
  Plan planBefore() const;
  Plan planAfter(const Plan &plan, const Measured &measured) const;
  bool isWorthAnotherLink(const Measured &measured) const;
  Measured measure() const;
  bool reportBroken(const Measured &measured) const;
  void removeOutput() const;
  void explainFailure() const;
  bool isOutputWritable() const;
  bool checkSlimObjects() const;
  bool findRuntime();
  std::string runtimeFile() const;
  std::string usersRuntime() const;
  std::string passPluginPath() const;
  bool checkPassPlugin(bool isNeeded = false);
  bool hasBitcode() const;
  void cleanDependencyFile(ArrayRef<std::string> ours) const;

  LinkRequest request;
  std::string programPath;
  ScanResult scan;
  std::vector<LinkInput> unscanned;  ///< archives that may change the plan
  Machine machine = Machine::x86_64; ///< set before a link with the layout
  std::string runtimeLibrary;
  std::string passPlugin; ///< for LTO; empty if there is none that fits
  bool passPluginChecked = false;
};

} // namespace

static raw_ostream &error() { return errs() << "ld.mpg: error: "; }
static raw_ostream &warning() { return errs() << "ld.mpg: warning: "; }
static raw_ostream &note() { return errs() << "ld.mpg: note: "; }

static int failed(Error reason) {
  error() << toString(std::move(reason)) << "\n";
  return 1;
}

/// Runs lld as ld.lld does; does not return.
[[noreturn]] static void becomeLld(ArrayRef<std::string> command) {
  std::vector<const char *> args;
  for (const std::string &arg : command)
    args.push_back(arg.c_str());
  bool linked = lld::elf::link(args, outs(), errs(), /*exitEarly=*/true,
                               /*disableOutput=*/false);
  outs().flush();
  errs().flush();
  sys::Process::Exit(linked ? 0 : 1, /*NoCleanup=*/true);
}

/// Starts lld. What it prints goes to \p out and \p err instead of the terminal
/// if these are given.
static Expected<Child> startLldProcess(ArrayRef<std::string> command,
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

/// Where the libraries of this installation lie: installed, or in the build
/// tree.
static std::vector<std::string> sisterFolders(StringRef programPath) {
  std::vector<std::string> folders;
  for (const char *folder : {MPG_LIBRARY_FOLDER, "../lib"}) {
    SmallString<256> path = sys::path::parent_path(programPath);
    sys::path::append(path, folder);
    sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    folders.push_back(path.str().str());
  }
  return folders;
}

/// Where the loader finds \p library: in a folder that holds nothing else if
/// there is one, so that no other library there hides one of the user's.
static std::string folderForLoader(StringRef library) {
  StringRef folder = sys::path::parent_path(library);
  if (!library.ends_with(".so") || isLoaderFolder(folder))
    return {};
  SmallString<256> own = folder;
  sys::path::append(own, "mpgtools");
  return sys::fs::is_directory(own) ? own.str().str() : folder.str();
}

/// The program has to run as it is: it is told where the runtime lies.
void Linker::addRuntime(Additions &additions) const {
  std::string library = request.hasRuntime ? usersRuntime() : runtimeLibrary;
  additions.runtimeFolder = folderForLoader(library);
  if (!request.hasRuntime)
    additions.runtimeLibrary = library;
}

/// The link without the layout. Asked for in so many words, the runtime is
/// linked all the same; findRuntime() has found it.
std::vector<std::string> Linker::plainCommand() const {
  Additions additions;
  additions.passPlugin = passPlugin;
  addRuntime(additions);
  return lldCommand(request, additions);
}

int Linker::linkAsIs() {
  if (request.runtime == RuntimeChoice::yes &&
      request.output != OutputKind::other && !findRuntime())
    return 1;
  checkPassPlugin();
  outs().flush();
  becomeLld(plainCommand());
}

/// lld and the kernel decide for themselves; this only tells early, and in
/// plain words, that the output cannot be written.
bool Linker::isOutputWritable() const {
  StringRef path = request.outputPath;
  sys::fs::file_status status;
  bool exists = !sys::fs::status(path, status);
  if (path == "-" ||
      (exists && status.type() != sys::fs::file_type::directory_file &&
       status.type() != sys::fs::file_type::regular_file))
    return true;
  if (exists && status.type() == sys::fs::file_type::directory_file) {
    error() << "cannot write " << printable(path) << ": it is a directory\n";
    return false;
  }
  // lld writes a new file beside the old one and renames it.
  StringRef folder = sys::path::parent_path(path);
  std::error_code code = sys::fs::access(folder.empty() ? "." : folder,
                                         sys::fs::AccessMode::Write);
  if (code)
    error() << "cannot write " << printable(path) << ": " << code.message()
            << "\n";
  return !code;
}

/// libmpg as it lies beside this program, in the build tree or installed; of
/// the machine that is linked for, or nothing.
std::string Linker::runtimeFile() const {
  for (const std::string &folder : sisterFolders(programPath))
    for (const char *name : {"libmpg.so", "libmpg.a"}) {
      if (request.isStatic && StringRef(name).ends_with(".so"))
        continue;
      std::string path = folder + "/" + name;
      bool fits = false;
      Error error = readImages(path, [&](Image &image) {
        fits |= image.fullyRead() &&
                (!scan.machine || image.machine() == *scan.machine);
      });
      if (!error && fits)
        return path;
      consumeError(std::move(error));
    }
  return {};
}

/// What -lmpg of the command line means, if that is the libmpg beside this
/// program; another one is the user's business.
std::string Linker::usersRuntime() const {
  if (request.runtime == RuntimeChoice::no || request.isStatic)
    return {};
  for (StringRef folder : request.searchPaths) {
    SmallString<256> path = folder;
    sys::path::append(path, "libmpg.so");
    std::string own;
    if (sys::fs::exists(path))
      own = runtimeFile();
    if (!own.empty())
      return sys::fs::equivalent(path, own) ? own : std::string();
  }
  return {};
}

/// A library that needs libmpg would bring it into every program that loads
/// it, so `auto` gives it to programs only.
bool Linker::findRuntime() {
  if (request.runtime == RuntimeChoice::no || request.hasRuntime ||
      (request.runtime == RuntimeChoice::automatic &&
       request.output != OutputKind::program))
    return true;
  runtimeLibrary = runtimeFile();
  if (runtimeLibrary.empty() && request.runtime == RuntimeChoice::yes) {
    error() << "--mpg-runtime=yes: no "
            << (request.isStatic ? "libmpg.a" : "libmpg.so")
            << " for this machine is installed beside ld.mpg\n";
    return false;
  }
  return true;
}

/// The plugin that LTO code is to have, or nothing: not a second time if the
/// user names it.
std::string Linker::passPluginPath() const {
  if (request.inputs.empty() || hasOwnPassPlugin(request.passPlugins))
    return {};
  for (const std::string &folder : sisterFolders(programPath)) {
    std::string path = folder + "/" + passPluginFile.str();
    if (sys::fs::exists(path))
      return path;
  }
  return {};
}

/// False if lld cannot load the plugin: it is then left out. That is worth a
/// word only where it would have been loaded; with \p isNeeded the caller
/// knows.
bool Linker::checkPassPlugin(bool isNeeded) {
  if (passPlugin.empty() || passPluginChecked)
    return true;
  passPluginChecked = true;
  outs().flush();
  errs().flush();
  std::string reason = reasonNotToLoad(passPlugin);
  if (reason.empty())
    return true;
  if (isNeeded || hasBitcode())
    warning() << printable(passPlugin)
              << " is left out, LTO code gets no hints: " << printable(reason)
              << "; install the one that was built with this ld.mpg\n";
  passPlugin.clear();
  return false;
}

/// Whether there is LTO code among the inputs. Takes long with many archives.
bool Linker::hasBitcode() const {
  if (request.fatLto || scan.bitcodeBytes > 0)
    return true;
  Expected<ScanChild> child =
      ScanChild::start(request, request.inputs, UINT64_MAX);
  if (child)
    return child->finish().bitcodeBytes > 0;
  consumeError(child.takeError());
  return false;
}

bool Linker::checkSlimObjects() const {
  for (const std::string &name : scan.slimObjects)
    error() << printable(name)
            << " holds gcc's own LTO code only, which lld cannot read; compile "
               "it with -ffat-lto-objects or without -flto, or use clang\n";
  return scan.slimObjects.empty();
}

void Linker::explainFailure() const {
  for (const std::string &name : scan.slimArchives)
    note() << printable(name)
           << " has members that hold gcc's own LTO code only, which lld "
              "cannot read; compile them with -ffat-lto-objects\n";
  if (request.hugeBytes > separateSegmentsBytes &&
      scan.machine == Machine::x86_64)
    note() << "with large pages of " << formatBytes(request.hugeBytes)
           << " .bss can lie more than 2 GiB from the code, which is as far "
              "as x86-64 code (the C start files too) reaches; use "
              "--mpg-huge=2M\n";
}

Measured Linker::measure() const {
  Measured measured;
  // Devices and pipes cannot be read again, and reading them may hang.
  if (request.outputPath == "-" ||
      !sys::fs::is_regular_file(request.outputPath))
    return measured;
  Error failed = readImages(request.outputPath, [&](Image &image) {
    measured.readable = image.isLoadable();
    measured.sized = image.hasSections();
    measured.fileBytes = image.fileBytes();
    measured.dataBytes = largeDataBytes(image);
    measured.large = hasLargeSections(image);
    measured.lateSections = sectionsBehind(image, layoutTailSection);
    if (measured.readable)
      measured.broken = checkLayout(image, request.hugeBytes);
  });
  consumeError(std::move(failed));
  return measured;
}

bool Linker::isWorthAnotherLink(const Measured &measured) const {
  return measured.fileBytes <= quickOutputBytes &&
         scan.bitcodeBytes <= quickBitcodeBytes;
}

/// The plan that the finished output asks for.
Plan Linker::planAfter(const Plan &plan, const Measured &measured) const {
  if (!measured.readable || !measured.sized)
    return plan;
  bool enough = measured.dataBytes >= request.minBytes;
  if (plan.align && !enough)
    return isWorthAnotherLink(measured) ? Plan() : plan;
  if (!enough)
    return Plan();
  Plan better = plan;
  better.align = true;
  better.large |= measured.large;
  better.lateSections.insert(better.lateSections.end(),
                             measured.lateSections.begin(),
                             measured.lateSections.end());
  return better;
}

/// Names of files that exist only in this process must not be remembered.
void Linker::cleanDependencyFile(ArrayRef<std::string> ours) const {
  if (request.dependencyFile.empty() || ours.empty())
    return;
  auto file = MemoryBuffer::getFile(request.dependencyFile, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false,
                                    /*IsVolatile=*/true);
  if (!file)
    return;
  std::string text = withoutDependencies((*file)->getBuffer(), ours);
  std::error_code code;
  raw_fd_ostream out(request.dependencyFile, code);
  if (code)
    return;
  out << text;
  out.close();
  if (out.has_error())
    warning() << "cannot write " << printable(request.dependencyFile) << ": "
              << out.error().message() << "\n";
  out.clear_error();
}

Expected<LldRun> Linker::startLld(const Plan &plan, MemoryFile *out,
                                  MemoryFile *err) const {
  LayoutObjects objects =
      plan.align ? writeLayoutObjects(machine, {request.hugeBytes, plan.large,
                                                plan.lateSections})
                 : writeSkippedObjects(machine, request.hugeBytes);
  Expected<MemoryFile> first = MemoryFile::create(objects.first);
  if (!first)
    return first.takeError();
  Expected<MemoryFile> last = MemoryFile::create(objects.last);
  if (!last)
    return last.takeError();
  Additions additions;
  additions.firstObject = first->path();
  additions.alignSegments = plan.align;
  additions.passPlugin = passPlugin;
  addRuntime(additions);
  if (!objects.last.empty())
    additions.lastObject = last->path();
  additions.color = err && sys::Process::StandardErrHasColors();
  Expected<Child> child =
      startLldProcess(lldCommand(request, additions), out, err);
  if (!child)
    return child.takeError();
  return LldRun{std::move(*first), std::move(*last), *child};
}

/// Exit status of lld.
int Linker::finishLld(LldRun &run) const {
  int status = run.child.finish();
  if (status == 0)
    cleanDependencyFile({run.first.path(), run.last.path()});
  return status;
}

int Linker::linkOnce(const Plan &plan, MemoryFile *out, MemoryFile *err) {
  Expected<LldRun> run = startLld(plan, out, err);
  return run ? finishLld(*run) : failed(run.takeError());
}

/// Scans \p inputs and waits for it.
void Linker::scanNow(ArrayRef<LinkInput> inputs) {
  if (inputs.empty())
    return;
  Expected<ScanChild> child =
      ScanChild::start(request, inputs, request.minBytes);
  if (child)
    merge(scan, child->finish());
  consumeError(child.takeError()); // the guess is worse then
}

/// What an output is before it is linked: shows whether it was written anew.
static sys::fs::UniqueID outputId(const std::string &path) {
  sys::fs::UniqueID id;
  return sys::fs::getUniqueID(path, id) ? sys::fs::UniqueID() : id;
}

/// lld runs by \p plan while the archives are scanned. When they change the
/// plan, what this run has made and said is thrown away, and lld runs again; so
/// it does when it had to load a pass plugin that it cannot load.
int Linker::linkWhileScanning(Plan &plan, MemoryFile &printed) {
  Expected<MemoryFile> out = MemoryFile::create("");
  if (!out)
    return failed(out.takeError());
  Expected<MemoryFile> err = MemoryFile::create("");
  if (!err)
    return failed(err.takeError());
  sys::fs::UniqueID before = outputId(request.outputPath);
  Expected<LldRun> run = startLld(plan, &*out, &*err);
  if (!run)
    return failed(run.takeError());
  scanNow(unscanned);
  bool fits = scan.bitcodeBytes == 0 || checkPassPlugin();
  Plan better = planBefore();
  // There can be bitcode where nobody has looked, behind a script.
  if (fits && better == plan && !run->child.wait())
    fits = checkPassPlugin(/*isNeeded=*/true);
  if (!fits || !(better == plan)) {
    run->child.stop();
    checkPassPlugin(); // what the next run says is seen at once
    if (outputId(request.outputPath) != before)
      removeOutput();
    plan = better;
    return linkOnce(plan, &printed, nullptr);
  }
  run->child.wait();
  errs() << err->contents();
  errs().flush();
  printed = std::move(*out);
  return finishLld(*run);
}

void Linker::removeOutput() const {
  if (std::error_code code = sys::fs::remove(request.outputPath))
    warning() << "cannot remove " << printable(request.outputPath) << ": "
              << code.message() << "\n";
}

/// Tells what of the layout is missing. True if that is an error.
bool Linker::reportBroken(const Measured &measured) const {
  bool isError = request.promise == LayoutPromise::strict;
  for (const std::string &reason : measured.broken)
    (isError ? error() : warning())
        << printable(request.outputPath) << ": " << printable(reason) << "\n";
  return isError && !measured.broken.empty();
}

/// The plan that the inputs ask for, as far as they are scanned.
Plan Linker::planBefore() const {
  Plan plan;
  plan.align = scan.dataBytes >= request.minBytes;
  plan.large = plan.align && scan.large;
  if (plan.align)
    plan.lateSections = scan.lateSections;
  return plan;
}

int Linker::linkWithLayout() {
  if (unscanned.empty() || scan.bitcodeBytes > 0 || request.fatLto)
    checkPassPlugin();
  Plan plan = planBefore();
  // What lld prints (a map, a trace) is shown once, for the link that counts.
  // Its warnings are the same for both: they are shown at once.
  Expected<MemoryFile> printed = MemoryFile::create("");
  if (!printed)
    return failed(printed.takeError());
  int status = unscanned.empty() ? linkOnce(plan, &*printed, nullptr)
                                 : linkWhileScanning(plan, *printed);
  if (status != 0) {
    outs() << printed->contents();
    explainFailure();
    return status;
  }
  Measured measured = measure();
  Plan better = planAfter(plan, measured);
  if (!(better == plan)) {
    plan = better;
    if (int status = relink(plan, *printed))
      return status;
    measured = measure();
  }
  outs() << printed->contents();
  if (plan.align && reportBroken(measured)) {
    removeOutput();
    note() << "the output was removed; --mpg-layout=best-effort keeps it, "
              "--no-mpg-layout links as ld.lld does\n";
    return 1;
  }
  return 0;
}

/// The second link, when the first one has shown that \p plan is better.
int Linker::relink(const Plan &plan, MemoryFile &printed) {
  Expected<MemoryFile> out = MemoryFile::create("");
  if (!out)
    return failed(out.takeError());
  Expected<MemoryFile> err = MemoryFile::create("");
  if (!err)
    return failed(err.takeError());
  int status = linkOnce(plan, &*out, &*err);
  printed = std::move(*out);
  if (status == 0)
    return 0;
  outs() << printed.contents();
  errs() << err->contents();
  removeOutput();
  explainFailure();
  return status;
}

/// A script of the user decides the layout; ld.mpg only looks at the result.
int Linker::linkUnderScript() {
  if (request.runtime == RuntimeChoice::yes && !findRuntime())
    return 1;
  checkPassPlugin();
  Expected<Child> child = startLldProcess(plainCommand());
  if (!child)
    return failed(child.takeError());
  if (int status = child->finish())
    return status;
  Measured measured = measure();
  if (measured.dataBytes < request.minBytes || measured.broken.empty())
    return 0;
  warning() << printable(request.outputPath) << ": '"
            << printable(request.userScript)
            << "' decides the layout, and it does not suit large pages:\n";
  for (const std::string &reason : measured.broken)
    warning() << printable(request.outputPath) << ": " << printable(reason)
              << "\n";
  return 0;
}

int Linker::run() {
  if (request.help)
    outs() << ownHelp();
  passPlugin = passPluginPath();
  if (!request.layout || request.output == OutputKind::other)
    return linkAsIs();
  if (!isOutputWritable())
    return 1;
  if (!request.userScript.empty())
    return linkUnderScript();
  // Another machine than those that have the layout.
  if (!request.emulation.empty() && !machineOfEmulation(request.emulation))
    return linkAsIs();
  UnscannedInputs rest;
  scan = scanObjects(request, rest);
  scanNow(rest.bitcode);
  if (scan.dataBytes < request.minBytes)
    unscanned = std::move(rest.archives);
  if (!scan.machine) {
    scanNow(unscanned);
    unscanned.clear();
  }
  if (!scan.machine)
    return linkAsIs();
  machine = *scan.machine;
  if (!checkSlimObjects() || !findRuntime())
    return 1;
  return linkWithLayout();
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  sys::Process::UseANSIEscapeCodes(true);
  BumpPtrAllocator allocator;
  StringSaver saver(allocator);
  SmallVector<const char *, 256> args(argv, argv + argc);
  bool windows = any_of(
      args, [](StringRef arg) { return arg == "--rsp-quoting=windows"; });
  cl::ExpandResponseFiles(saver,
                          windows ? cl::TokenizeWindowsCommandLine
                                  : cl::TokenizeGNUCommandLine,
                          args);
  Expected<LinkRequest> request = parseLinkArgs(args);
  if (!request) {
    error() << toString(request.takeError()) << "\n";
    return 1;
  }
  std::string program =
      sys::fs::getMainExecutable(argv[0], reinterpret_cast<void *>(&main));
  return Linker(std::move(*request), program).run();
}
