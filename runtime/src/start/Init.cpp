// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The only constructor of libmpg; start reading here. It runs before the
// constructors of all other libraries, some of which start threads (OpenBLAS).
// The steps, in this order:
//
//   who           do nothing in programs that are not affected, and print one
//                 line beside Fujitsu's library or after another of ours
//   environment   into one Config, all of it checked
//   sectors       ways of the L2 cache, if the environment sets some
//   data          .data and .bss, because later steps write to them
//   code          large pages of the page cache, or copies, if that is wanted
//   stack         the process stack
//   threads       from here on new threads get large pages
//
// Each step is able to leave everything as it was, and none of them ends the
// program.

#include "start/Init.h"
#include "a64fx/Sector.h"
#include "a64fx/ZeroFill.h"
#include "base/Env.h"
#include "base/Messages.h"
#include "fork/BasePages.h"
#include "fork/Fork.h"
#include "fork/StopThreads.h"
#include "heap/Heap.h"
#include "heap/HeapSpace.h"
#include "mpg/mpg.h"
#include "numa/NodeCpus.h"
#include "numa/Numa.h"
#include "pages/OwnMaps.h"
#include "pages/Pages.h"
#include "pages/PagesNuma.h"
#include "pages/Shortage.h"
#include "segments/Remap.h"
#include "segments/Text.h"
#include "stack/Stack.h"
#include "stack/ThreadStack.h"
#include <errno.h>
#include <link.h>
#include <unistd.h>

using namespace mpg;

// Others in the process. Detects Fujitsu's libmpg.so.1 and other files of
// this library in this process, and who requested this one. Only one library
// may move memory. So this one does nothing beside Fujitsu's, nor after another
// of ours, which serves the program's malloc, and it prints that.

namespace {

/// The dynamic section of a loaded file.
class Dynamic {
public:
  explicit Dynamic(const dl_phdr_info &info) {
    for (unsigned i = 0; i < info.dlpi_phnum; ++i)
      if (info.dlpi_phdr[i].p_type == PT_DYNAMIC)
        first = reinterpret_cast<const ElfW(Dyn) *>(info.dlpi_addr +
                                                    info.dlpi_phdr[i].p_vaddr);
    for (const ElfW(Dyn) *entry = first; entry && entry->d_tag; ++entry)
      if (entry->d_tag == DT_STRTAB)
        strings = entry->d_un.d_ptr;
    // glibc adds the address where the file lies, except where the section
    // cannot be written (the vDSO).
    if (strings < info.dlpi_addr)
      strings += info.dlpi_addr;
  }

  /// Whether one of the entries \p tag is the string \p text.
  bool has(ElfW(Sxword) tag, const char *text) const {
    for (const ElfW(Dyn) *entry = first; entry && entry->d_tag; ++entry)
      if (entry->d_tag == tag &&
          __builtin_strcmp(
              reinterpret_cast<const char *>(strings + entry->d_un.d_val),
              text) == 0)
        return true;
    return false;
  }

private:
  const ElfW(Dyn) *first = nullptr;
  uintptr_t strings = 0;
};

} // namespace

static int isVendor(dl_phdr_info *info, size_t, void *) {
  return Dynamic(*info).has(DT_SONAME, "libmpg.so.1");
}

/// Whether a library of the SONAME libmpg.so.1 is loaded: Fujitsu's, also where
/// it is preloaded (public job scripts: read). Ours has another one, whatever
/// its file is called.
static bool vendorIsLoaded() { return dl_iterate_phdr(isVendor, nullptr) != 0; }

static bool containsUs(const dl_phdr_info &info) {
  auto here = uintptr_t(&isVendor);
  for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = info.dlpi_phdr[i];
    if (segment.p_type == PT_LOAD &&
        here - info.dlpi_addr - segment.p_vaddr < segment.p_memsz)
      return true;
  }
  return false;
}

namespace {

/// Files of this library, up to the one that this code is in.
struct OurFiles {
  const char *first = nullptr; ///< null: no other is in front of it
  const char *own = "";        ///< empty: part of the program
};

} // namespace

/// \p files as a pointer to OurFiles.
static int noteOurs(dl_phdr_info *info, size_t, void *files) {
  auto *ours = static_cast<OurFiles *>(files);
  if (containsUs(*info)) {
    ours->own = info->dlpi_name;
    return 1;
  }
  if (!ours->first && Dynamic(*info).has(DT_SONAME, "libmpgrt.so.1"))
    ours->first = info->dlpi_name;
  return 0;
}

static OurFiles findOurFiles() {
  OurFiles files;
  dl_iterate_phdr(noteOurs, &files);
  return files;
}

/// The first file is the program; no other is looked at.
static int isLinked(dl_phdr_info *info, size_t, void *) {
  bool isIn =
      containsUs(*info) || Dynamic(*info).has(DT_NEEDED, "libmpgrt.so.1");
  return isIn ? 1 : -1;
}

/// Whether the program was linked with this library: it contains it, or needs
/// it by its SONAME. False when it came by LD_PRELOAD or dlopen() only.
static bool programIsLinkedWithUs() {
  return dl_iterate_phdr(isLinked, nullptr) == 1;
}

static void reportStandDown(Messages &messages) {
  messages.report(
      MPG_MSG_VENDOR,
      "Fujitsu's libmpg.so.1 is in this process and moves the data "
      "itself; this library does nothing; fix: none if that is intended; "
      "otherwise link with -Knolargepage");
}

static void reportAnotherIsFirst(Messages &messages, const OurFiles &files) {
  messages.report(
      MPG_MSG_TWICE, "two files of this library are in this process; ",
      files.first, " came first and is at work, ", files.own,
      " does nothing; fix: only one in LD_PRELOAD, and none under mpgrun");
}

// The steps

// The loader's; a static program has none, but `environ` from the start.
extern "C" void *__libc_stack_end __attribute__((weak));

namespace {

/// All mutable state of the runtime that lives longer than start-up.
struct State {
  Config config;
  Messages messages;
  bool isDecided = false;
  bool isOn = false; ///< this process is one of ours
};

} // namespace

static State state;

/// The environment of the process. Before the C library's first constructor
/// `environ` is not set; then it is after the arguments, where the loader
/// begins to read, and where that constructor will have it begin.
static const char *const *environment() {
  if (environ || !&__libc_stack_end || !__libc_stack_end)
    return environ;
  auto *words = static_cast<char **>(__libc_stack_end);
  return environ = words + 1 + *reinterpret_cast<const long *>(words) + 1;
}

/// Why memory may not be left for later, for each thread to have its own near;
/// null if it may.
static const char *againstNodes(const Config &config) {
  if (allowedNodes().count() < 2 || !mayRunOnSeveralNodes())
    return "the process may use one NUMA node only";
  if (hasMemoryPolicy())
    return "a memory policy is set (numactl)";
  if (config.mode != Mode::thp && reservationMayFailAtStart(config.hugeBytes))
    return "reserved pages may be missing later (a limit on large pages of a "
           "cgroup, or a cpuset with some of the nodes)";
  return nullptr;
}

/// Only the pool reserves memory, so only there .bss may be paged in before it
/// is touched. Pages that come before the program's threads are on the node of
/// the starting thread. If several nodes may be used, and no policy is set,
/// they come at the first touch, provided that is sure to find them, or .bss in
/// parts if that is requested. They come so on one node, too, but with
/// MPG_MODE=hugetlb, which is as Fujitsu's library.
static void choosePaging(Config &config) {
  bool wantsParts = config.firstTouch == TouchMode::start;
  if (config.pagingGiven && !wantsParts)
    return;
  if (config.mode == Mode::thp && !config.pagingGiven) {
    config.pagingBecause = "nothing reserves transparent pages";
    config.bssPaging = Paging::demand;
  }
  const char *against = againstNodes(config);
  if (wantsParts)
    config.againstParts = against;
  if (against) {
    // GNU sort asks for 20 MiB and writes to 10, NWChem has 300 MiB of .bss and
    // writes to 90; the first touch of a reserved page costs no more than
    // paging it in.
    if (!config.pagingGiven && config.mode == Mode::automatic &&
        !reservationMayFailAtStart(config.hugeBytes)) {
      config.pagingBecause = "pages of the pool are reserved";
      config.bssPaging = config.mmapPaging = Paging::demand;
    }
    return;
  }
  if (!config.pagingGiven) {
    config.pagingBecause = "the process may use several NUMA nodes";
    config.bssPaging = config.mmapPaging = Paging::demand;
  }
  if (wantsParts) {
    config.bssInParts = true;
    config.bssPaging = Paging::prepage;
  }
}

/// Reads who is affected, and the settings. False: there is nothing to do.
static bool decide() {
  state.isDecided = true;
  rememberStandardError();
  const char *const *variables = environment();
  readAudience(variables, state.config);
  const Config &config = state.config;
  readSectorSettings(variables, state.config.sectors);
  startSectors(config.sectors, nullptr);
  if (!config.isTarget && !programIsLinkedWithUs())
    return false;
  state.messages.setStyle(config.quiet, config.vendorCodes);
  OurFiles files = findOurFiles();
  if (files.first) { // which has mpgrun's file as well
    state.messages.start(config.speaks, -1);
    reportAnotherIsFirst(state.messages, files);
    return false;
  }
  state.messages.start(config.speaks, config.stateFd, config.statePid);
  state.messages.setFile(files.own);
  if (vendorIsLoaded()) {
    state.messages.setMode(unsigned(Mode::none));
    reportStandDown(state.messages);
    return false;
  }
  readSettings(variables, state.config, state.messages);
  startSectors(config.sectors, &state.messages);
  startZeroFill(state.messages);
  state.messages.setMode(unsigned(config.mode));
  state.isOn = true;
  if (config.mode == Mode::none)
    return false;
  probePages(config.forceCopyBack);
  choosePaging(state.config);
  return true;
}

bool mpg::decideHeap() {
  return decide() && startHeap(state.config, state.messages);
}

/// Ends early if there is nothing to do; see the file head.
static void run() {
  heapIsOurs(); // decides, if no call of malloc has done so
  if (!state.isDecided)
    decide();
  const Config &config = state.config;
  if (!state.isOn)
    return;
  if (config.printEnv && config.speaks)
    printEnv(config, environ, findOurFiles().own);
  writeInitialWays();
  startFirstTouch(config, heapIsOurs() ? heapSpace.range() : Range{},
                  state.messages);
  if (config.mode == Mode::none)
    return;
  startNuma(config);
  unsigned threads = countThreadsAtStart();
  startBasePages(config, state.messages);
  startReplicate(state.messages);
  watchForks(config, state.messages);
  startOwnMaps(config, state.messages);
  remapSegments(config, state.messages, threads, touchAtStart);
  if (config.text != TextMode::off)
    placeText(config, state.messages);
  if (config.stacks) {
    remapStack(config, state.messages, threads);
    startThreadStacks(config, state.messages);
  }
}

// All sanitizers have it.
extern "C" void __sanitizer_report_error_summary(const char *)
    __attribute__((weak));

/// A sanitizer replaces functions that libmpg calls, and these do not work
/// before the sanitizer's constructor. That may run after ours.
static bool isPostponed() {
  return &__sanitizer_report_error_summary && mpg_calls_main &&
         mpg_calls_main();
}

/// Runs the start, then restores the environment from before mpgrun, so that
/// the loader does not complain in a child without this library, in a container
/// or of 32 bits. A second file of this library that does nothing leaves this
/// to the one at work, which the loader may start later.
static void runAndLeave() {
  run();
  if (state.config.isTarget && state.isOn)
    leaveEnvironment(environ, findOurFiles().own);
}

void mpg::startIfPostponed() {
  if (isPostponed())
    runAndLeave();
}

/// The first of all constructors: the loader calls those of a library that is
/// linked with `-z initfirst` before others, the C library's included. In
/// static programs lower numbers are the compiler's own.
__attribute__((constructor(101))) static void startUp() {
  int saved = errno;
  environment(); // sets `environ`
  if (!isPostponed())
    runAndLeave();
  errno = saved;
}

/// After the program's own destructors.
__attribute__((destructor(101))) static void atEnd() { state.messages.end(); }

const char *mpg_version() { return MPG_VERSION; }

void mpg_start() {}
