// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LinkContext.h.

#include "LinkContext.h"
#include "Elf/HugeLayout.h"
#include "Elf/Image.h"
#include "Link/InputScan.h"
#include "Link/LayoutObjects.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <elf.h>
#include <set>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

// The promise of the layout. Checked on the file that came out: .data and .bss
// (and .ldata, .lbss) begin and end on borders of large pages, in memory that
// belongs to nothing else, and the file asks the kernel to load it so. The
// check knows nothing of how the layout was made.

static bool isData(const Section &section) {
  return (section.flags & SHF_ALLOC) && !(section.flags & SHF_TLS) &&
         is_contained({".data", ".bss", ".ldata", ".lbss"}, section.name);
}

/// Sizes of .data, .bss, .ldata and .lbss together: what --mpg-min counts.
static uint64_t largeDataBytes(Image &image) {
  uint64_t bytes = 0;
  for (const Section &section : image.sections())
    if (isData(section))
      bytes += section.bytes;
  return bytes;
}

/// Whether the file has sections of the medium or large code model.
static bool hasLargeSections(Image &image) {
  return any_of(image.sections(), [](const Section &section) {
    return isData(section) && section.bytes > 0 &&
           section.name.starts_with(".l");
  });
}

/// Names of the sections without contents that lie after the section \p tail
/// in the same segment, where nothing should be.
static std::vector<std::string> sectionsBehind(Image &image, StringRef tail) {
  std::vector<std::string> names;
  const Section *tailSection = image.findSection(tail);
  if (!tailSection)
    return names;
  const Segment *load = nullptr;
  for (const Segment &candidate : image.loads())
    if (tailSection->address >= candidate.address &&
        tailSection->address < candidate.end())
      load = &candidate;
  for (const Section &section : image.sections())
    if (load && section.type == SHT_NOBITS && section.name != tail &&
        (section.flags & SHF_WRITE) && !(section.flags & SHF_TLS) &&
        section.address >= tailSection->address &&
        section.address < load->end() && !isData(section))
      names.push_back(section.name.str());
  return names;
}

namespace {

class LayoutChecker {
public:
  LayoutChecker(Image &image, uint64_t hugeBytes)
      : image(image), hugeBytes(hugeBytes), page(formatBytes(hugeBytes)) {}
  std::vector<std::string> check();

private:
  void checkSection(const Section &section);
  void checkSegment(const Segment &load, StringRef of);
  void checkRelro();
  void checkNeighbours();
  const Segment *getLoad(const Section &section) const;

  Image &image;
  uint64_t hugeBytes;
  std::string page;
  std::vector<const Segment *> dataLoads;
  std::set<std::pair<const Segment *, std::string>> seen;
  std::vector<std::string> reasons;
};

} // namespace

const Segment *LayoutChecker::getLoad(const Section &section) const {
  for (const Segment &load : image.loads())
    if (section.address >= load.address &&
        section.address + section.bytes <= load.end())
      return &load;
  return nullptr;
}

void LayoutChecker::checkSection(const Section &section) {
  std::string name = section.name.str();
  const Segment *load = getLoad(section);
  // A section that only carries an alignment need not be in a segment if there
  // is nothing to align.
  if (!load && section.bytes == 0)
    return;
  if (!load) {
    reasons.push_back(name + " at " + formatHex(section.address) +
                      " lies in no segment");
    return;
  }
  // With --unique there are many of one name; the others follow the first.
  bool isFirst = seen.insert({load, name}).second;
  if (isFirst && section.address % hugeBytes != 0)
    reasons.push_back(name + " begins at " + formatHex(section.address) +
                      ", which is not a border of a " + page + " page");
  if (!is_contained(dataLoads, load)) {
    dataLoads.push_back(load);
    checkSegment(*load, name);
  }
}

/// Checks a segment that holds .data or .bss; \p of names it.
void LayoutChecker::checkSegment(const Segment &load, StringRef of) {
  std::string segment = "the segment of " + of.str();
  if (!load.writable())
    reasons.push_back(segment + " at " + formatHex(load.address) +
                      " is not writable");
  if (load.executable())
    reasons.push_back(segment + " at " + formatHex(load.address) +
                      " is executable: a section of that name holds code");
  if (load.end() % hugeBytes != 0)
    reasons.push_back(segment + " ends at " + formatHex(load.end()) +
                      ", which is not a border of a " + page + " page");
  if (load.align < hugeBytes)
    reasons.push_back(segment + " is aligned to " + formatBytes(load.align) +
                      " only (p_align), so it may be loaded anywhere");
  else if ((load.address - load.offset) % load.align != 0)
    reasons.push_back(segment + " at " + formatHex(load.address) +
                      " and its place in the file, " + formatHex(load.offset) +
                      ", differ within a page");
}

/// RELRO becomes read-only after start-up; large pages can only do so whole.
void LayoutChecker::checkRelro() {
  const Segment *relro = image.findSegment(PT_GNU_RELRO);
  if (!relro || relro->memoryBytes == 0)
    return;
  for (const Section &section : image.sections()) {
    if (!isData(section) || section.bytes == 0)
      continue;
    uint64_t start = roundDown(section.address, hugeBytes);
    uint64_t end = roundUp(section.address + section.bytes, hugeBytes);
    if (relro->address < end && relro->end() > start)
      reasons.push_back(section.name.str() + " shares a " + page +
                        " page with RELRO at " + formatHex(relro->address));
  }
}

void LayoutChecker::checkNeighbours() {
  for (OverlapPair pair : findOverlaps(image.loads(), hugeBytes)) {
    const Segment &first = image.loads()[pair.first];
    const Segment &second = image.loads()[pair.second];
    // RELRO beside code: see separateSegmentsBytes.
    if (hugeBytes > separateSegmentsBytes && !is_contained(dataLoads, &first) &&
        !is_contained(dataLoads, &second))
      continue;
    reasons.push_back("the segments at " + formatHex(first.address) + " and " +
                      formatHex(second.address) + " meet in one " + page +
                      " page");
  }
}

std::vector<std::string> LayoutChecker::check() {
  for (const Section &section : image.sections())
    if (isData(section))
      checkSection(section);
  // Without section headers the last writable segment is all that is known.
  if (!image.hasSections()) {
    const Segment *last = nullptr;
    for (const Segment &load : image.loads())
      if (load.writable())
        last = &load;
    if (last)
      checkSegment(*last, "the data");
  }
  checkRelro();
  checkNeighbours();
  return std::move(reasons);
}

/// Bytes of code, or of constants if they are more. By sections: the segment of
/// the code may end with a hole.
static uint64_t largestTextBytes(Image &image) {
  uint64_t codeBytes = 0, constantBytes = 0;
  for (const Section &section : image.sections())
    if ((section.flags & SHF_ALLOC) && !(section.flags & SHF_WRITE))
      (section.flags & SHF_EXECINSTR ? codeBytes : constantBytes) +=
          section.bytes;
  return std::max(codeBytes, constantBytes);
}

/// Why code or constants of a large page or more cannot be on large pages of
/// the page cache (HW:file-thp), one sentence each; empty if all can.
static std::vector<std::string> checkText(Image &image, uint64_t hugeBytes) {
  std::string page = formatBytes(hugeBytes);
  std::vector<std::string> reasons;
  if (image.dynamic().textrel)
    reasons.push_back("relocations change the code when it is loaded "
                      "(DT_TEXTREL); compile with -fPIC");
  for (const Segment &load : image.loads()) {
    if (load.executable() && load.writable())
      reasons.push_back("the segment of the code at " +
                        formatHex(load.address) +
                        " is writable; leave out -N, --omagic");
    if (load.writable() || load.fileBytes < hugeBytes)
      continue;
    std::string segment = load.executable() ? "code" : "constants";
    segment += " at " + formatHex(load.address);
    if ((load.address - load.offset) % hugeBytes != 0)
      reasons.push_back(segment + " and their place in the file, " +
                        formatHex(load.offset) + ", differ within " + page);
    else if (load.address % hugeBytes != 0)
      reasons.push_back(segment + " begin between borders of " + page);
    else if (load.align < hugeBytes)
      reasons.push_back(segment + " are aligned to " + formatBytes(load.align) +
                        " only (p_align)");
  }
  return reasons;
}

// The link

raw_ostream &mpg::error() { return errs() << "ld.mpg: error: "; }
raw_ostream &mpg::warning() { return errs() << "ld.mpg: warning: "; }
raw_ostream &mpg::note() { return errs() << "ld.mpg: note: "; }

bool mpg::isForReader(const LinkRequest &request) {
  return sys::Process::GetEnv("MPG_QUIET") != "1" &&
         (request.verbose || sys::Process::StandardErrIsDisplayed());
}

int mpg::failed(Error reason) {
  error() << toString(std::move(reason)) << "\n";
  return 1;
}

// Inputs

Expected<ScanChild> ScanChild::start(const LinkRequest &request,
                                     ArrayRef<LinkInput> inputs,
                                     uint64_t enoughBytes) {
  ScanChild scan;
  Expected<MemoryFile> answer = MemoryFile::create("");
  if (!answer)
    return answer.takeError();
  scan.answer = std::move(*answer);
  Expected<Child> child = Child::startQuiet([&] {
    ScanResult result = scanFiles(request, inputs, enoughBytes);
    _exit(scan.answer.append(writeScanResult(result)) ? 0 : 1);
  });
  if (!child)
    return child.takeError();
  scan.child = *child;
  return scan;
}

ScanResult ScanChild::finish() {
  return child.wait() ? readScanResult(answer.contents()) : ScanResult();
}

std::vector<LinkInput> mpg::scanFirst(LinkContext &link) {
  UnscannedInputs rest;
  link.scan = scanObjects(link.request, rest);
  scanNow(link, rest.bitcode);
  if (link.scan.dataBytes >= link.request.minBytes)
    rest.archives.clear();
  // Where lld cannot run again the guess has to be as good as can be.
  bool once = link.scan.readsPipe || isSpecialOutput(link.request.outputPath);
  if (once || !link.scan.machine) {
    scanNow(link, rest.archives);
    rest.archives.clear();
  }
  return std::move(rest.archives);
}

void mpg::scanNow(LinkContext &link, ArrayRef<LinkInput> inputs) {
  if (inputs.empty())
    return;
  Expected<ScanChild> child =
      ScanChild::start(link.request, inputs, link.request.minBytes);
  if (child)
    merge(link.scan, child->finish());
  consumeError(child.takeError()); // the guess is worse then
}

ScanResult mpg::scanAll(const LinkContext &link) {
  Expected<ScanChild> child =
      ScanChild::start(link.request, link.request.inputs, UINT64_MAX);
  if (child)
    return child->finish();
  consumeError(child.takeError());
  return {};
}

bool mpg::checkSlimObjects(const ScanResult &scan) {
  for (const std::string &name : scan.slimObjects)
    error()
        << printable(name)
        << " holds gcc's own LTO code only, which lld cannot read; compile "
           "it with -ffat-lto-objects or without -flto, or use clang; to keep "
           "gcc's LTO, link by GNU ld with large pages: gcc -flto "
           "-specs=PREFIX/share/mpgtools/mpg-bfd.specs (no -B of ld.mpg)\n";
  return scan.slimObjects.empty();
}

/// lld stops at code on the stack. Which archives have it is not known yet.
static void noteStackCode(const LinkContext &link) {
  if (link.request.execStack)
    return;
  outs().flush();
  ScanResult scan = scanAll(link);
  if (!scan.stackCode.empty())
    note() << printable(scan.stackCode.front())
           << " asks for an executable stack, as code does that passes on an "
              "internal procedure (Fortran) or nested function (C): add "
              "-Wl,-z,execstack, which GNU ld does by itself, or see mpgaudit "
              "--explain=MPG160\n";
}

void mpg::explainFailure(const LinkContext &link) {
  for (const std::string &name : link.scan.slimArchives)
    note() << printable(name)
           << " has members that hold gcc's own LTO code only, which lld "
              "cannot read; compile them with -ffat-lto-objects\n";
  noteStackCode(link);
  if (link.request.hugeBytes > separateSegmentsBytes &&
      link.scan.machine == Machine::x86_64)
    note() << "with large pages of " << formatBytes(link.request.hugeBytes)
           << " .bss can lie more than 2 GiB from the code, which is as far "
              "as x86-64 code (the C start files too) reaches; use "
              "--mpg-huge=2M\n";
}

// The output

bool mpg::isSpecialOutput(const std::string &path) {
  sys::fs::file_status status;
  return path == "-" ||
         (!sys::fs::status(path, status) && sys::fs::is_other(status));
}

bool mpg::isOutputWritable(const std::string &path) {
  if (isSpecialOutput(path))
    return true;
  if (sys::fs::is_directory(path)) {
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

sys::fs::UniqueID mpg::outputId(const std::string &path) {
  sys::fs::UniqueID id;
  return sys::fs::getUniqueID(path, id) ? sys::fs::UniqueID() : id;
}

OutputFacts mpg::readOutput(const std::string &path, uint64_t hugeBytes) {
  OutputFacts facts;
  if (isSpecialOutput(path))
    return facts;
  Error failed = readImages(path, [&](Image &image) {
    facts.readable = image.isLoadable();
    facts.sized = image.hasSections();
    facts.fileBytes = image.fileBytes();
    facts.dataBytes = largeDataBytes(image);
    facts.large = hasLargeSections(image);
    facts.lateSections = sectionsBehind(image, layoutTailSection);
    if (!facts.readable)
      return;
    facts.broken = LayoutChecker(image, hugeBytes).check();
    facts.textBytes = largestTextBytes(image);
    facts.textBroken = checkText(image, segmentPageBytes(hugeBytes));
  });
  consumeError(std::move(failed));
  return facts;
}

void mpg::removeOutput(const std::string &path) {
  if (std::error_code code = sys::fs::remove(path))
    warning() << "cannot remove " << printable(path) << ": " << code.message()
              << "\n";
}
