// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LiveProcess.h. A process may end, or become another program, between two
// looks at it; so what runs is compared once more at the end.

#include "Process/LiveProcess.h"
#include "Node/Node.h"
#include "Process/RunReport.h"
#include "Support/Files.h"
#include "Support/Format.h"
#include "Support/JsonItem.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

/// The environment and the list of mappings of a process may be of any size;
/// more than this is not needed.
static constexpr size_t largestFileBytes = size_t(256) << 20;

namespace {

/// Which file it is, whatever its name.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  nlink_t links = 0;
  bool operator==(const FileIdentity &other) const {
    return device == other.device && inode == other.inode;
  }
};

/// Collects a LiveProcess.
class Reader {
public:
  explicit Reader(int pid) : folder("/proc/" + std::to_string(pid)) {
    process.pid = pid;
  }
  Expected<LiveProcess> read();

private:
  Error explain(int error) const;
  Error readStatus();
  Error readProgram();
  Error readLaunch();
  Error readRegions();
  Error checkStillThere() const;
  StringRef statusField(StringRef name) const;
  std::optional<FileIdentity> identify(const Twine &path) const;
  bool isInContainer() const;
  HeapRange findHeap() const;
  void addText(const std::vector<MappedArea> &areas);

  LiveProcess process;
  const std::string folder;
  std::string status;     ///< /proc/PID/status
  std::string mappedName; ///< of the program in smaps
  FileIdentity identity;  ///< of the program
};

} // namespace

/// All of \p path, or the number of the error; files of /proc have no size.
static int readFile(const std::string &path, std::string &text) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (file < 0)
    return errno;
  int error = 0;
  for (size_t used = 0;;) {
    text.resize(std::max<size_t>(used + (64 << 10), used + used / 2));
    ssize_t count = ::read(file, &text[used], text.size() - used);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      error = errno;
    used += count > 0 ? size_t(count) : 0;
    if (used > largestFileBytes)
      error = EFBIG;
    if (count <= 0 || error) {
      text.resize(used);
      break;
    }
  }
  close(file);
  return error;
}

static Error fail(const Twine &reason) {
  return createStringError(inconvertibleErrorCode(), reason);
}

/// Explains an error of /proc/PID to the user.
Error Reader::explain(int error) const {
  if (error == ENOENT || error == ESRCH)
    return fail("it has ended while it was looked at");
  if (error != EACCES && error != EPERM)
    return fail(Twine("it cannot be looked at: ") + strerror(error));
  auto [owner, rest] = statusField("Uid").split('\t');
  unsigned user;
  if (!owner.getAsInteger(10, user) && user == geteuid())
    return fail("it is yours, but runs with rights of its own (setuid, file "
                "capabilities, another name space), so only root may look at "
                "it: run mpgaudit as root");
  return fail("it belongs to user " + owner +
              ": run mpgaudit as that user or as root");
}

/// The value after "Name:" in /proc/PID/status.
StringRef Reader::statusField(StringRef name) const {
  for (StringRef line : split(status, '\n'))
    if (line.consume_front(name) && line.consume_front(":"))
      return line.trim();
  return "";
}

Error Reader::readStatus() {
  if (process.pid <= 0)
    return fail("process ids begin with 1; `ps -e` lists those that run");
  if (int error = readFile(folder + "/status", status)) {
    if (error == ENOENT && kill(process.pid, 0) != 0 && errno == ESRCH)
      return fail("there is no such process; `ps -e` lists those that run");
    if (error == ENOENT && access("/proc/self/status", F_OK) != 0)
      return fail("there is no /proc here, where its memory is described; "
                  "mount it: mount -t proc proc /proc");
    if (error == ENOENT)
      return fail("it is there, but /proc hides it from you (mount option "
                  "hidepid): run mpgaudit as its user or as root");
    return explain(error);
  }
  unsigned group;
  if (!statusField("Tgid").getAsInteger(10, group) &&
      group != unsigned(process.pid))
    return fail("it is a thread of process " + Twine(group) +
                ": use that number");
  StringRef state = statusField("State");
  (void)!statusField("Threads").getAsInteger(10, process.threads);
  if (state.starts_with("X") || (state.starts_with("Z") && process.threads < 2))
    return fail(
        "it has ended; its parent has not yet asked for its exit status "
        "(a zombie), and it has no memory any more");
  if (state.starts_with("Z"))
    return fail("its first thread has ended, and without that one /proc does "
                "not show its memory");
  if (statusField("VmSize").empty())
    return fail("it is a thread of the kernel: it runs no program");
  return Error::success();
}

std::optional<FileIdentity> Reader::identify(const Twine &path) const {
  struct stat info;
  if (stat(path.str().c_str(), &info) != 0)
    return std::nullopt;
  return FileIdentity{info.st_dev, info.st_ino, info.st_nlink};
}

/// Another root, or other file systems below the same one.
bool Reader::isInContainer() const {
  std::optional<FileIdentity> own = identify("/"),
                              other = identify(folder + "/root/");
  if (own && other && !(*own == *other))
    return true;
  std::optional<std::string> ownSpace = readLinkTarget("/proc/self/ns/mnt"),
                             otherSpace = readLinkTarget(folder + "/ns/mnt");
  return ownSpace && otherSpace && *ownSpace != *otherSpace;
}

Error Reader::readProgram() {
  std::optional<std::string> link = readLinkTarget(folder + "/exe");
  if (!link)
    return explain(errno);
  std::optional<FileIdentity> running = identify(folder + "/exe");
  if (!running)
    return explain(errno);
  identity = *running;
  // The list of mappings has one line for each.
  for (char character : *link)
    mappedName +=
        character == '\n' ? std::string("\\012") : std::string(1, character);
  StringRef shown = *link;
  if (identity.links == 0)
    shown.consume_back(" (deleted)");
  process.shownPath = shown.str();
  if (isInContainer())
    process.launch.sysroot = folder + "/root";
  // By its own name, if it has one: $ORIGIN is where the program lies.
  process.program = process.launch.sysroot + process.shownPath;
  std::optional<FileIdentity> named = identify(process.program);
  process.isReplaced = !named || !(*named == identity);
  if (process.isReplaced)
    process.program = folder + "/exe";
  return Error::success();
}

static std::optional<unsigned> localRanks(const Environment &environment) {
  static constexpr StringRef names[] = {
#define MPG_LOCAL_SIZE(name) name,
#include "mpg/ranks.def"
  };
  for (StringRef name : names) {
    unsigned ranks;
    if (!environment.getValue(name).getAsInteger(10, ranks) && ranks)
      return ranks;
  }
  return std::nullopt;
}

Error Reader::readLaunch() {
  std::string environ;
  if (int error = readFile(folder + "/environ", environ))
    return explain(error);
  Launch &launch = process.launch;
  for (StringRef entry : split(environ, '\0')) {
    auto [name, value] = entry.split('=');
    // Of two with one name getenv finds the first.
    if (name.size() == entry.size() || launch.environment.find(name))
      continue;
    Variable variable;
    variable.value = value.str();
    launch.environment.set(name, std::move(variable));
  }
  // The requested number, not the present one: at its start a program has one.
  launch.threads = launch.environment.threads();
  if (!launch.threads)
    launch.threads = process.threads;
  launch.ranksPerNode = localRanks(launch.environment);
  ProcessLimits limits =
      readProcessLimits(SysTree("/"), std::to_string(process.pid));
  launch.stackBytes = limits.stack.value;
  return Error::success();
}

/// The range of libmpg's heap, if mpgrun waits for a report and so knows it.
HeapRange Reader::findHeap() const {
  unsigned number;
  if (process.launch.environment.getValue("MPG_STATE_FD")
          .getAsInteger(10, number))
    return {};
  std::string file = folder + "/fd/" + std::to_string(number);
  std::optional<std::string> link = readLinkTarget(file);
  if (!link || !isStateName(*link))
    return {};
  std::string bytes;
  if (readFile(file, bytes))
    return {};
  std::unique_ptr<mpg_state> state = checkedState(bytes);
  // A child of the program inherits the file and not the heap.
  unsigned writer;
  StringRef ownNumber = statusField("NSpid").rsplit('\t').second;
  if (ownNumber.empty())
    ownNumber = statusField("NSpid");
  if (!state || ownNumber.getAsInteger(10, writer) || state->pid != writer)
    return {};
  return getHeap(*state);
}

void Reader::addText(const std::vector<MappedArea> &areas) {
  RegionUse text = {};
  text.region = RunRegion::text;
  for (const MappedArea *area : findUnchanging(areas, mappedName)) {
    if (!area->executable)
      continue;
    text.mappedBytes += area->bytes();
    text.bytes += area->usedBytes();
    text.hugeBytes += area->hugeBytes();
    text.unknownBytes += area->unknownBytes;
    text.pageBytes = std::max(
        text.pageBytes, area->thpBytes ? area->thpPageBytes : area->pageBytes);
  }
  if (text.mappedBytes)
    process.regions.push_back(text);
}

Error Reader::readRegions() {
  std::string smaps;
  if (int error = readFile(folder + "/smaps", smaps))
    return explain(error);
  std::vector<MappedArea> areas = parseSmaps(smaps, "");
  if (areas.empty())
    return explain(ESRCH);
  addLargeFolios(process.pid, areas);
  addText(areas);
  append_range(process.regions,
               classifyAreas(areas,
                             locateSegments(folder + "/exe", areas, mappedName),
                             findHeap()));
  return Error::success();
}

// Files of /proc/PID were read one after the other: an exec in between would
// mix two programs, and the number may be another process's by now.
Error Reader::checkStillThere() const {
  std::optional<FileIdentity> now = identify(folder + "/exe");
  if (!now)
    return explain(ESRCH);
  if (!(*now == identity))
    return fail(
        "it has started another program while it was looked at: once more");
  return Error::success();
}

Expected<LiveProcess> Reader::read() {
  if (Error error = readStatus())
    return error;
  if (Error error = readProgram())
    return error;
  if (Error error = readLaunch())
    return error;
  if (Error error = readRegions())
    return error;
  if (Error error = checkStillThere())
    return error;
  return std::move(process);
}

Expected<LiveProcess> mpg::readProcess(int pid) { return Reader(pid).read(); }

static void writeRow(raw_ostream &out, const RegionUse &region) {
  uint64_t used = region.bytes + region.setAsideBytes,
           huge = region.hugeBytes + region.setAsideBytes;
  out << "  " << left_justify(regionName(region.region), 12)
      << right_justify(formatBytes(region.mappedBytes), 10)
      << right_justify(formatBytes(used), 10)
      << StringRef(hugeColumns(used, huge, region.unknownBytes)).rtrim();
  if (huge)
    out << "  " << formatBytes(region.pageBytes) << " pages";
  out << "\n";
}

void mpg::writeProcess(raw_ostream &out, const LiveProcess &process) {
  const Launch &launch = process.launch;
  out << "process " << process.pid << ": " << printable(process.shownPath)
      << ", " << countWord(process.threads, "thread");
  if (launch.stackBytes)
    out << ", stack limit "
        << (*launch.stackBytes == UINT64_MAX ? "unlimited"
                                             : formatBytes(*launch.stackBytes));
  out << "\n";
  if (process.isReplaced)
    out << "  the file was deleted or built anew since; what is judged here is "
           "the one\n  that runs\n";
  if (!launch.sysroot.empty())
    out << "  in a container: its libraries are below "
        << printable(launch.sysroot) << "\n";
  out << "  region          mapped    in use  on large pages now\n";
  for (const RegionUse &region : process.regions)
    writeRow(out, region);
  if (any_of(process.regions,
             [](const RegionUse &region) { return region.unknownBytes; }))
    writeFilled(out, "  not known: ", whyNotKnown, 4);
}

/// JSON readers know no larger integer.
static int64_t jsonNumber(uint64_t value) {
  return int64_t(std::min<uint64_t>(value, INT64_MAX));
}

static JsonObject liveRegionItem(const RegionUse &region) {
  return {{"region", regionName(region.region)},
          {"mapped_bytes", jsonNumber(region.mappedBytes)},
          {"bytes", jsonNumber(region.bytes + region.setAsideBytes)},
          {"huge_bytes", jsonNumber(region.hugeBytes + region.setAsideBytes)},
          {"unknown_bytes", jsonNumber(region.unknownBytes)},
          {"page_bytes", jsonNumber(region.pageBytes)}};
}

void mpg::writeProcessJson(raw_ostream &out, const LiveProcess &process) {
  uint64_t stack = process.launch.stackBytes.value_or(UINT64_MAX);
  writeJson(out,
            JsonObject{{"pid", process.pid},
                       {"path", process.shownPath},
                       {"replaced", process.isReplaced},
                       {"threads", process.threads},
                       {"stack_limit_bytes",
                        stack == UINT64_MAX ? JsonItem() : jsonNumber(stack)},
                       {"container", !process.launch.sysroot.empty()},
                       {"regions", jsonList(process.regions, liveRegionItem)}});
}
