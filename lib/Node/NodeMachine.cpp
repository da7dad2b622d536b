// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See NodeMachine.h.

#include "Node/NodeMachine.h"
#include "Node/HugePages.h"
#include "Support/Files.h"
#include "Support/Format.h"
#include "mpg/advice.h"
#include "mpg/filesystems.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

std::vector<DataCache> mpg::readDataCaches(const SysTree &tree) {
  const std::string folder = "/sys/devices/system/cpu/cpu0/cache/";
  std::vector<DataCache> caches;
  for (unsigned index : tree.numbered(folder, "index")) {
    std::string entry = folder + "index" + std::to_string(index);
    auto number = [&](const char *file) {
      return tree.number(entry + file).valueOr(0);
    };
    Fact<std::string> type = tree.line(entry + "/type");
    if (!type || *type == "Instruction")
      continue;
    caches.push_back({number("/level"), tree.line(entry + "/size").valueOr(""),
                      number("/number_of_sets"),
                      number("/ways_of_associativity"),
                      number("/coherency_line_size")});
  }
  return caches;
}

std::vector<const NumaNode *> NumaFacts::usable() const {
  std::vector<const NumaNode *> found;
  for (const NumaNode &node : nodes)
    if (node.isAllowed && node.memoryBytes.valueOr(1) > 0)
      found.push_back(&node);
  return found;
}

static Fact<std::vector<unsigned>> readAllowed(const SysTree &tree,
                                               StringRef name) {
  return parseFact(tree.field("/proc/self/status", name), parseList,
                   "/proc/self/status: " + name + " is not a list of numbers");
}

static NumaNode readNumaNode(const SysTree &tree, unsigned id) {
  std::string number = std::to_string(id);
  std::string folder = "/sys/devices/system/node/node" + number;
  std::string pool =
      folder + "/hugepages/hugepages-" + sysfsSize(largePageBytes) + "/";
  // Lines of this file begin with "Node 4 ".
  std::string memory = folder + "/meminfo", line = "Node " + number + " ";
  NumaNode node;
  node.id = id;
  node.cpus = tree.list(folder + "/cpulist");
  node.memoryBytes = tree.kibibytes(memory, line + "MemTotal");
  node.freeBytes = tree.kibibytes(memory, line + "MemFree");
  node.poolTotal = tree.number(pool + "nr_hugepages");
  node.poolFree = tree.number(pool + "free_hugepages");
  node.poolSurplus = tree.number(pool + "surplus_hugepages");
  if (Fact<std::string> distances = tree.line(folder + "/distance"))
    for (StringRef word : split(*distances, ' '))
      if (unsigned distance; !word.getAsInteger(10, distance))
        node.distances.push_back(distance);
  return node;
}

/// The line "name 123" of \p counts, which are /proc/vmstat.
static Fact<uint64_t> countedBy(const Fact<std::string> &counts,
                                StringRef name) {
  using Result = Fact<uint64_t>;
  if (!counts)
    return Result::missing(counts.unknown);
  for (StringRef line : split(*counts, '\n'))
    if (line.consume_front(name) && line.consume_front(" "))
      if (std::optional<uint64_t> number = parseNumber(line.trim()))
        return *number;
  return Result::missing("/proc/vmstat: no " + name.str() + " in it");
}

NumaFacts mpg::readNumaFacts(const SysTree &tree) {
  NumaFacts facts;
  facts.allowedNodes = readAllowed(tree, "Mems_allowed_list");
  facts.allowedCpus = readAllowed(tree, "Cpus_allowed_list");
  for (unsigned id : tree.numbered("/sys/devices/system/node", "node")) {
    facts.nodes.push_back(readNumaNode(tree, id));
    if (facts.allowedNodes)
      facts.nodes.back().isAllowed = is_contained(*facts.allowedNodes, id);
  }
  facts.balancing = tree.number("/proc/sys/kernel/numa_balancing");
  Fact<std::string> counts = tree.text("/proc/vmstat");
  facts.balancingFaults = countedBy(counts, "numa_hint_faults");
  facts.balancingMoved = countedBy(counts, "numa_pages_migrated");
  return facts;
}

std::string mpg::whyNothingMoves(const NumaFacts &facts, bool hasPolicy) {
  if (facts.usable().size() < 2)
    return "the program may use memory of one NUMA node only: there is nothing "
           "to move";
  if (!facts.balancing)
    return "the kernel cannot move pages by touch (" +
           printable(facts.balancing.unknown) + "): nothing is moved";
  // 2 is for tiers of memory alone.
  if (!(*facts.balancing & 1))
    return "kernel.numa_balancing is off: nothing is moved; ask the "
           "administrator for: sysctl kernel.numa_balancing=1";
  if (hasPolicy)
    return "a memory policy is set (numactl): the kernel moves no pages then; "
           "start mpgrun without it";
  return "";
}

/// "6.18.44-fc" is 6, 18.
static void parseVersion(StringRef release, KernelFacts &facts) {
  unsigned major, minor;
  if (release.consumeInteger(10, major) || !release.consume_front(".") ||
      release.consumeInteger(10, minor))
    return;
  facts.major = major;
  facts.minor = minor;
}

/// The kernel checks the advice before it sees that there is nothing to do.
static std::optional<bool> knowsAdvice(int advice) {
  constexpr int noAdvice = 9999;
  size_t pageBytes = size_t(sysconf(_SC_PAGESIZE));
  void *page =
      mmap(nullptr, pageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return std::nullopt;
  // An emulator that says yes to everything proves nothing:
  // qemu-aarch64 7.2 answers 0 to any advice (measured).
  std::optional<bool> known;
  if (madvise(page, 0, noAdvice) != 0)
    known = madvise(page, 0, advice) == 0;
  munmap(page, pageBytes);
  return known;
}

/// Moves a mapping of one large page that is never touched nor reserved, so
/// that it works with an empty pool as well.
static std::optional<bool> movesLargePages() {
  constexpr size_t bytes = largePageBytes;
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  LargeSpace space(2 * bytes);
  char *first = space.start();
  if (!first)
    return std::nullopt;
  std::optional<bool> moves;
  constexpr int twoMebibytes = 21 << 26; // MAP_HUGE_2MB
  void *page = mmap(first, bytes, PROT_NONE,
                    flags | MAP_FIXED | MAP_HUGETLB | twoMebibytes, -1, 0);
  if (page != MAP_FAILED) {
    moves = mremap(page, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                   first + bytes) != MAP_FAILED;
    munmap(first, bytes);
    munmap(first + bytes, bytes);
  }
  return moves;
}

/// A file without a name in the current folder, of two large pages without
/// contents, or -1. Other file systems may be shared by thousands of nodes that
/// ask at once; a limit on files (ulimit -f) would end the process by a signal.
static int openNamelessFile() {
  constexpr rlim_t bytes = 2 * largePageBytes;
  struct statfs system;
  rlimit files;
  if (getrlimit(RLIMIT_FSIZE, &files) != 0 || files.rlim_cur < bytes ||
      statfs(".", &system) != 0 ||
      !mpg_is_local_filesystem(static_cast<unsigned long>(system.f_type)))
    return -1;
  int file = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0 && ftruncate(file, off_t(bytes)) == 0)
    return file;
  if (file >= 0)
    close(file);
  return -1;
}

/// Kilobytes of FilePmdMapped or ShmemPmdMapped of all mappings together.
static std::optional<uint64_t> filePmdMapped() {
  auto smaps = readUnmapped("/proc/self/smaps");
  if (!smaps)
    return std::nullopt;
  uint64_t sum = 0;
  for (StringRef line : split((*smaps)->getBuffer(), '\n')) {
    uint64_t kilobytes;
    if ((line.consume_front("FilePmdMapped:") ||
         line.consume_front("ShmemPmdMapped:")) &&
        !line.ltrim().drop_back(3).getAsInteger(10, kilobytes))
      sum += kilobytes;
  }
  return sum;
}

/// Maps two large pages of \p file as code and has them read, then collapsed if
/// \p mayCollapse. Nothing before Linux 5.14, which cannot populate.
static std::optional<bool> mapsLargePages(int file, bool mayCollapse) {
  constexpr size_t bytes = largePageBytes;
  LargeSpace space(2 * bytes);
  char *first = space.start();
  if (!first)
    return std::nullopt;
  std::optional<bool> maps;
  std::optional<uint64_t> before = filePmdMapped();
  if (mmap(first, 2 * bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
           file, 0) != MAP_FAILED &&
      before) {
    madvise(first, 2 * bytes, MADV_HUGEPAGE);
    // Not by reading: where a tmpfs is full, that ends the process by SIGBUS.
    std::optional<uint64_t> after;
    if (madvise(first, 2 * bytes, MPG_ADVICE_POPULATE_READ) == 0)
      after = filePmdMapped();
    if (after && *after == *before && mayCollapse &&
        madvise(first, 2 * bytes, MPG_ADVICE_COLLAPSE) == 0)
      after = filePmdMapped();
    if (after)
      maps = *after > *before;
  }
  return maps;
}

/// Whether kernel and file system of the current folder give a file that is
/// executed large pages of the page cache. HW:file-thp
static std::optional<bool> givesFilePages(const SysTree &tree) {
  int file = openNamelessFile();
  if (file < 0)
    return std::nullopt;
  Fact<std::string> word = readTransparentFacts(tree).effective(largePageBytes);
  // A hole is read into the page cache as contents are, and takes no disk.
  std::optional<bool> gives = mapsLargePages(file, word && *word != "never");
  close(file);
  return gives;
}

KernelFacts mpg::readKernelFacts(const SysTree &tree) {
  KernelFacts facts;
  if (Fact<std::string> release = tree.line("/proc/sys/kernel/osrelease"))
    parseVersion(*release, facts);
  auto add = [&](const char *name, unsigned major, unsigned minor,
                 std::optional<bool> probed) {
    KernelFeature feature{name, probed, probed.has_value()};
    if (!probed && facts.major)
      feature.present =
          std::pair(facts.major, facts.minor) >= std::pair(major, minor);
    facts.features.push_back(feature);
  };
  bool live = tree.isLive();
  std::optional<bool> none;
  // A shortage is an error, not a SIGBUS.
  add("populate-write", 5, 14,
      live ? knowsAdvice(MPG_ADVICE_POPULATE_WRITE) : none);
  // Memory in use becomes transparent huge pages at once.
  add("collapse", 6, 1, live ? knowsAdvice(MPG_ADVICE_COLLAPSE) : none);
  // .data moves without a second copy.
  add("move-hugetlb", 5, 16, live ? movesLargePages() : none);
  // A kernel without transparent huge pages has no sizes of them either.
  const std::string folder = "/sys/kernel/mm/transparent_hugepage";
  std::optional<bool> sizes;
  if (tree.exists(folder))
    sizes = tree.exists(folder + "/hugepages-" + sysfsSize(largePageBytes));
  add("sized-transparent", 6, 8, sizes);
  // Pages of the pool can count as memory of a job.
  add("hugetlb-accounting", 6, 7, none);
  // Code stays in the file and lies on large pages. No version tells.
  std::optional<bool> gives = live ? givesFilePages(tree) : none;
  facts.features.push_back({"file-pages", gives, gives.has_value()});
  return facts;
}

StringRef mpg::a64fxName(A64fxKind kind) {
  static constexpr StringLiteral names[] = {"", "FX1000", "FX700", "A64FX"};
  return names[unsigned(kind)];
}

std::optional<unsigned> mpg::memoryGroup(A64fxKind kind, unsigned node) {
  if (kind == A64fxKind::fx1000 && node >= 4 && node < 8)
    return node - 4;
  if (kind == A64fxKind::fx700 && node < 4)
    return node;
  return std::nullopt;
}

bool mpg::isSystemNode(A64fxKind kind, unsigned node) {
  return kind == A64fxKind::fx1000 && node < 4;
}

/// Whether nodes \p first to \p first + 3 hold 12 CPUs each, from \p cpu on.
static bool holdsGroups(const NumaFacts &numa, unsigned first, unsigned cpu) {
  unsigned found = 0;
  for (const NumaNode &node : numa.nodes) {
    if (node.id < first || node.id >= first + 4 || !node.cpus)
      continue;
    unsigned begin = cpu + 12 * (node.id - first);
    found += formatList(*node.cpus) ==
             std::to_string(begin) + "-" + std::to_string(begin + 11);
  }
  return found == 4;
}

/// Implementer and part of MIDR_EL1. HW:a64fx-midr
static bool isA64fx(uint64_t midr) {
  return (midr >> 24 & 0xff) == 0x46 && (midr >> 4 & 0xfff) == 0x001;
}

static A64fxKind getKind(const Fact<uint64_t> &midr, const NumaFacts &numa) {
  if (!midr || !isA64fx(*midr))
    return A64fxKind::no;
  if (holdsGroups(numa, 4, 12))
    return A64fxKind::fx1000;
  return holdsGroups(numa, 0, 0) ? A64fxKind::fx700 : A64fxKind::other;
}

/// "0x46" or "1" in a line of /proc/cpuinfo.
static uint64_t cpuField(const SysTree &tree, StringRef name) {
  uint64_t number = 0;
  Fact<std::string> word = tree.field("/proc/cpuinfo", name);
  if (!word || StringRef(*word).getAsInteger(0, number))
    return 0;
  return number;
}

static Fact<uint64_t> readMidr(const SysTree &tree) {
  const char *file =
      "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1";
  Fact<std::string> word = tree.line(file);
  uint64_t midr;
  if (word && !StringRef(*word).getAsInteger(0, midr) && midr >> 32 == 0)
    return midr;
  // Kernels without that file print the parts of the register.
  if (uint64_t implementer = cpuField(tree, "CPU implementer"))
    return (implementer & 0xff) << 24 |
           (cpuField(tree, "CPU variant") & 0xf) << 20 | 0xf << 16 |
           (cpuField(tree, "CPU part") & 0xfff) << 4 |
           (cpuField(tree, "CPU revision") & 0xf);
  return Fact<uint64_t>::missing(
      word ? std::string(file) + ": no register in it" : word.unknown);
}

static void readProcessor(const SysTree &tree, NodeMachine &machine) {
  Fact<std::string> model = tree.field("/proc/cpuinfo", "model name");
  if (tree.field("/proc/cpuinfo", "vendor_id")) {
    machine.architecture = "x86-64";
    machine.processor = model;
    if (model)
      machine.processor = printable(*model);
    return;
  }
  machine.midr = readMidr(tree);
  if (!machine.midr) {
    machine.architecture = "unknown";
    machine.processor = model;
    return;
  }
  machine.architecture = "AArch64";
  if (isA64fx(*machine.midr))
    machine.processor = std::string("Fujitsu A64FX");
  else if (model)
    machine.processor = printable(*model);
  else
    machine.processor = "implementer " + formatHex(*machine.midr >> 24 & 0xff) +
                        ", part " + formatHex(*machine.midr >> 4 & 0xfff);
}

/// By what this machine is simulated, from whichever file tells.
static std::string readVirtualisation(const SysTree &tree) {
  if (Fact<std::string> type = tree.line("/sys/hypervisor/type"))
    return printable(*type);
  if (Fact<std::string> name =
          tree.line("/proc/device-tree/hypervisor/compatible"))
    return printable(*name);
  constexpr const char *vendors[] = {"QEMU",    "KVM",        "VMware",
                                     "Xen",     "Amazon EC2", "Google",
                                     "innotek", "Bochs",      "Parallels"};
  Fact<std::string> vendor = tree.line("/sys/class/dmi/id/sys_vendor");
  Fact<std::string> product = tree.line("/sys/class/dmi/id/product_name");
  for (const char *known : vendors)
    if ((vendor && StringRef(*vendor).contains(known)) ||
        (product && StringRef(*product).contains(known)))
      return known;
  // The bit by which an x86 hypervisor tells its guest.
  if (Fact<std::string> flags = tree.field("/proc/cpuinfo", "flags"))
    if (is_contained(split(*flags, ' '), "hypervisor"))
      return "unnamed hypervisor";
  return "";
}

static std::string readContainer(const SysTree &tree) {
  if (Fact<std::string> name = tree.line("/run/systemd/container"))
    return printable(*name);
  if (tree.exists("/run/.containerenv"))
    return "podman";
  return tree.exists("/.dockerenv") ? "docker" : "";
}

static std::vector<std::string> readGovernors(const SysTree &tree) {
  const std::string folder = "/sys/devices/system/cpu/cpufreq";
  std::vector<std::string> governors;
  for (unsigned policy : tree.numbered(folder, "policy")) {
    Fact<std::string> name = tree.line(
        folder + "/policy" + std::to_string(policy) + "/scaling_governor");
    if (name && !is_contained(governors, printable(*name)))
      governors.push_back(printable(*name));
  }
  return governors;
}

static std::optional<std::vector<DividedCache>>
readDividedCaches(const SysTree &tree) {
  static constexpr StringLiteral folder = "/sys/fs/resctrl";
  if (!tree.exists(folder))
    return std::nullopt;
  std::vector<DividedCache> caches;
  for (StringRef name : {"L2", "L3"}) {
    Fact<std::string> line = tree.line(folder + "/info/" + name + "/cbm_mask");
    uint64_t mask = 0; // a bit for each part
    if (line && !StringRef(*line).getAsInteger(16, mask))
      caches.push_back({name.str(), unsigned(llvm::popcount(mask))});
  }
  return caches;
}

NodeMachine mpg::readMachine(const SysTree &tree, const NumaFacts &numa) {
  NodeMachine machine;
  auto name = [&](const char *file) {
    Fact<std::string> word = tree.line(file);
    if (word)
      word.value = printable(*word);
    return word;
  };
  machine.host = name("/proc/sys/kernel/hostname");
  machine.kernelRelease = name("/proc/sys/kernel/osrelease");
  readProcessor(tree, machine);
  machine.a64fx = getKind(machine.midr, numa);
  Fact<std::vector<unsigned>> online =
      tree.list("/sys/devices/system/cpu/online");
  machine.cpus = online ? Fact<unsigned>(unsigned((*online).size()))
                        : Fact<unsigned>::missing(online.unknown);
  machine.virtualised = readVirtualisation(tree);
  machine.container = readContainer(tree);
  machine.smt = name("/sys/devices/system/cpu/smt/control");
  machine.governors = readGovernors(tree);
  if (machine.architecture == "AArch64")
    machine.dividedCaches = readDividedCaches(tree);
  auto find = [&](const char *file) {
    return tree.exists(file) ? std::string(file) : std::string();
  };
  // HW:fugaku-paths, HW:sector-device, HW:barrier-device
  machine.vendorLibrary = find("/opt/FJSVxos/mmm/lib64/libmpg.so.1");
  machine.tagCommand = find("/opt/FJSVxos/fhehpc/bin/fhetbo");
  machine.sectorDevice = find("/dev/xos_sec_normal");
  machine.barrierDevice = find("/dev/fujitsu_hwb");
  // hwinfo has groups, blades, windows and CPUs of a group, "4 6 4 13"
  // (fujitsu/hardware_barrier, sysfs_interface.md: read). HW:prefetch-switch
  machine.barrierHardware =
      printable(tree.line("/sys/class/misc/fujitsu_hwb/hwinfo").valueOr(""));
  machine.prefetchAccess =
      tree.number("/sys/kernel/xos_hpc/hwpf_uaccess").value;
  return machine;
}
