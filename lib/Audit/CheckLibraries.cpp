// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of the libraries of a program. MPG120: a library that brings the large
// page library into every program. MPG143: data of libraries, which stay on
// normal pages. Also reports the libraries' own findings, each with the path by
// which the program comes to the library.

#include "Audit/Checks.h"
#include "Elf/HugeLayout.h"
#include "Support/Format.h"
#include <algorithm>
#include <elf.h>

using namespace llvm;
using namespace mpg;

static void checkLibrary(Image &image, Findings &findings) {
  for (StringRef name : image.dynamic().needed) {
    if (!isLibmpgName(name))
      continue;
    Finding &finding = findings.add(FindingId::mpg120,
                                    "the library brings " + name +
                                        " into every program that loads it");
    finding.evidence = (name + " is in DT_NEEDED").str();
    return;
  }
}

/// A PIE that did not ask for the library: usually a tool that loads a library
/// of the compiler's, because LD_LIBRARY_PATH names it first.
static void checkProgram(const Subject &subject, Findings &findings) {
  const LoadedLibrary *libmpg =
      subject.closure ? subject.closure->findLibmpg() : nullptr;
  if (!libmpg || libmpg->entry->askedBy < 0 ||
      subject.image.kind() != ElfKind::pie)
    return;
  const LoadedLibrary &bringer =
      subject.closure->libraries[unsigned(libmpg->entry->askedBy)];
  Finding &finding =
      findings.add(FindingId::mpg120, bringer.name + " brings " + libmpg->name +
                                          " into this program, which is a PIE");
  finding.sub = "program";
  finding.evidence = bringer.name.str() + " is " + bringer.entry->path;
  subject.closure->setVia(finding, *libmpg);
  finding.setFix("If this is a tool of the system, let it load the system's "
                 "own libraries: put /lib64 first in LD_LIBRARY_PATH. "
                 "Otherwise link " +
                 bringer.name.str() +
                 " without the large page library (fcc: -Knolargepage), and "
                 "link the program with it.");
}

void mpg::checkLibraryDrag(const Subject &subject, Findings &findings) {
  if (subject.image.kind() == ElfKind::library)
    checkLibrary(subject.image, findings);
  else
    checkProgram(subject, findings);
}

static constexpr char never[] = "which never gets large pages";

/// Words for target mpg in a finding of data that a library has.
static void wordLibraryData(Finding &finding) {
  if (size_t at = finding.title.find(never); at != std::string::npos)
    finding.title.replace(at, std::string::npos,
                          "which gets large pages with MPG_REMAP=all only");
  finding.cost = "libmpg moves the data of the program, and that of libraries "
                 "if the job asks for it, but for those that come by dlopen";
  finding.setFix("Ask for it in the job, or link this library into the program "
                 "as an archive:\n  export MPG_REMAP=all");
}

void mpg::checkLibraryData(const Subject &subject, Findings &findings) {
  constexpr uint64_t largeThreadBytes = 64 << 10;
  Image &image = subject.image;
  if (image.kind() != ElfKind::library)
    return;
  uint64_t bytes = writableBytes(image.loads());
  if (bytes > subject.settings.minBytes) {
    Finding &finding = findings.add(FindingId::mpg143,
                                    "the library has " + formatBytes(bytes) +
                                        " of writable data, " + never);
    finding.sub = "data";
    if (subject.target == Target::mpg)
      wordLibraryData(finding);
    finding.where.bytes = bytes;
  }
  const Segment *tls = image.findSegment(PT_TLS);
  if (tls && tls->memoryBytes > largeThreadBytes) {
    Finding &finding = findings.add(
        FindingId::mpg143, "the library has " + formatBytes(tls->memoryBytes) +
                               " of thread-local data for each thread");
    finding.sub = "tls";
    finding.where.bytes = tls->memoryBytes;
    finding.cost = "every thread takes this much when it starts, on normal "
                   "pages";
    finding.setFix("Allocate the arrays with malloc and keep pointers to them "
                   "in the thread-local variables.");
  }
}

/// The title of a file's own finding, as a finding on the library \p name.
static std::string titleAbout(const std::string &name, StringRef title) {
  if (title.consume_front("the file ") || title.consume_front("the library "))
    return name + " " + title.str();
  return name + ": " + title.str();
}

/// Whether something in the process sets the injection entries that a library
/// uses, which its own check cannot know.
static bool anybodySetsPrefetch(const Subject &subject) {
  constexpr KnownSymbol setter = KnownSymbol::mpg_prefetch_set;
  return subject.symbols().imports(setter) ||
         any_of(subject.closure->libraries, [](const LoadedLibrary &library) {
           return library.checks && library.checks->symbols.imports(setter);
         });
}

/// Whether the job has our runtime move the data of libraries, too.
static bool movesLibraries(const Subject &subject) {
  return subject.target == Target::mpg && subject.launch() &&
         subject.launch()->environment.getValue("MPG_REMAP") == "all";
}

/// Skips data and code of the operating system's libraries, which are not the
/// program's arrays and which nobody links once more, unless the user names the
/// finding.
static bool isWanted(const Subject &subject, const Finding &own,
                     const LoadedLibrary &library, const Findings &findings) {
  if (!findings.wants(own.id))
    return false;
  if (own.sub == "injection" && anybodySetsPrefetch(subject))
    return false;
  if (own.id == FindingId::mpg143 && own.sub == "data" &&
      movesLibraries(subject))
    return false;
  bool isSystems = own.id == FindingId::mpg143 || own.id == FindingId::mpg153;
  return !isSystems || !library.isSystem ||
         subject.settings.named.contains(own.id);
}

static Severity severityHere(const Subject &subject, const Finding &finding,
                             const LoadedLibrary &library) {
  Severity severity = std::min(
      finding.severity, getInfo(finding.id).severity[unsigned(subject.target)]);
  bool isInternal =
      finding.id == FindingId::mpg143 || finding.id == FindingId::mpg160;
  if (isInternal && library.isSystem)
    severity = std::min(severity, Severity::note);
  return std::max(severity, Severity::note);
}

static void liftFindings(const Subject &subject, const LoadedLibrary &library,
                         Findings &findings) {
  const ProgramClosure &closure = *subject.closure;
  for (const Finding &own : library.checks->findings) {
    if (!isWanted(subject, own, library, findings))
      continue;
    Finding &finding =
        findings.add(own.id, titleAbout(closure.describe(library), own.title));
    std::string title = std::move(finding.title);
    finding = own;
    finding.title = std::move(title);
    if (own.id == FindingId::mpg143 && own.sub == "data" &&
        subject.target == Target::mpg)
      wordLibraryData(finding);
    finding.severity = severityHere(subject, own, library);
    // Addresses are those of the library's file, not of the program.
    finding.where.address.reset();
    finding.where.segments.clear();
    closure.setVia(finding, library);
  }
}

// MPG170: one object has tags, another one uses the same byte

static bool hasTags(const std::optional<mpg_note_hints> &hints) {
  return hints && hints->taggedAccesses != 0;
}

/// Who makes tags: the program, or the first library that does; "" for none.
static std::string findTagger(const Subject &subject) {
  if (hasTags(subject.notes().hints))
    return "the program";
  for (const LoadedLibrary &library : subject.closure->libraries)
    if (library.checks && hasTags(library.checks->hints))
      return library.name.str();
  return "";
}

static void checkTopByte(const Subject &subject, Findings &findings) {
  const ProgramClosure &closure = *subject.closure;
  std::string tagger = findTagger(subject);
  if (tagger.empty())
    return;
  auto add = [&](const std::string &user, const TopByteUser &use) -> Finding & {
    Finding &finding =
        findings.add(FindingId::mpg170, "HPC tags of " + tagger + " meet " +
                                            use.name + " of " + user);
    finding.sub = use.sub;
    finding.evidence = use.evidence;
    return finding;
  };
  // A file that has both was reported for itself.
  if (!hasTags(subject.notes().hints))
    for (const TopByteUser &use : findTopByteUsers(subject.image))
      add("the program", use);
  for (const LoadedLibrary &library : closure.libraries)
    if (library.checks && !hasTags(library.checks->hints))
      for (const TopByteUser &use : library.checks->topByteUsers)
        closure.setVia(add(closure.describe(library), use), library);
}

void mpg::checkLibraries(const Subject &subject, Findings &findings) {
  if (!subject.closure)
    return;
  for (const LoadedLibrary &library : subject.closure->libraries)
    if (library.checks && !library.isCore())
      liftFindings(subject, library, findings);
  if (findings.wants(FindingId::mpg170) &&
      subject.image.machine() == Machine::aarch64)
    checkTopByte(subject, findings);
}
