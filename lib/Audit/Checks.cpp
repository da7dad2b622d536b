// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Checks.h. Facts that several checks need are read once.

#include "Audit/Checks.h"
#include "Elf/HugeLayout.h"
#include "Support/StableSort.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

const KnownSymbolUse &Subject::symbols() const {
  if (!symbolCache)
    symbolCache = findKnownSymbols(image);
  return *symbolCache;
}

static LinkFacts collectLinkFacts(Image &image) {
  LinkFacts facts;
  for (const Section &section : image.sections()) {
    StringRef name = section.name;
    if (section.bytes == 0 || name.size() < 4)
      continue;
    bool isData = name == ".data", isBss = name == ".bss";
    facts.hasData |= isData;
    facts.hasBss |= isBss;
    if (isData || isBss || name == ".ldata" || name == ".lbss")
      facts.dataBytes += section.bytes;
  }
  // Without section headers the sizes are unknown; the segments hold a little
  // more.
  if (!image.hasSections())
    facts.dataBytes = writableBytes(image.loads());
  return facts;
}

const LinkFacts &Subject::linkFacts() const {
  if (!linkCache) {
    linkCache = collectLinkFacts(image);
    linkCache->note = notes().layout;
  }
  return *linkCache;
}

const Notes &Subject::notes() const {
  if (!noteCache)
    noteCache = readOwnNotes(image);
  return *noteCache;
}

const KnownSymbolUse &Subject::ownSymbols() const {
  if (!ownCache)
    ownCache = findStaticSymbols(image);
  return *ownCache;
}

const Subject::MovableBytes &Subject::movableBytes() const {
  if (!movableCache)
    movableCache = {writableBytes(image.loads()),
                    interiorBytes(image.loads(), image.segments(), hugeBytes)};
  return *movableCache;
}

bool Subject::carriesLibmpg() const {
  return image.isProgram() && ownSymbols().defines(KnownSymbol::mpg_version);
}

bool Subject::carriesLibmpgMalloc() const {
  return carriesLibmpg() && ownSymbols().defines(KnownSymbol::__wrap_malloc);
}

Findings::Findings(const Subject &subject, std::vector<Finding> &out)
    : subject(subject), wanted(subject.settings.named), out(out) {
  for (const FindingInfo &info : allFindings())
    if (subject.settings.checks.contains(info.id) &&
        info.severity[unsigned(subject.target)] != Severity::off)
      wanted.insert(info.id);
}

bool Findings::has(FindingId id) const {
  return any_of(out, [&](const Finding &finding) { return finding.id == id; });
}

Finding &Findings::add(FindingId id, const Twine &title) {
  const FindingInfo &info = getInfo(id);
  Finding finding = {};
  finding.id = id;
  // Checks that are off by default rank as notes when the user names them.
  finding.severity =
      std::max(info.severity[unsigned(subject.target)], Severity::note);
  finding.title = title.str();
  finding.cost = info.cost.substr(0, info.cost.find("\n\n")).str();
  out.push_back(std::move(finding));
  return out.back();
}

/// Then nothing else matters.
static bool keepsFromStarting(const Finding &finding) {
  return finding.severity == Severity::error &&
         (finding.id == FindingId::mpg121 || finding.id == FindingId::mpg150);
}

void mpg::runChecks(const Subject &subject, std::vector<Finding> &out) {
  Findings findings(subject, out);
  for (const CheckEntry &entry : allChecks)
    if (findings.wantsAny(entry.first, entry.last))
      entry.run(subject, findings);
  // Findings on libraries follow the file's own finding of the same kind.
  stableSort(out, [](const Finding &a, const Finding &b) {
    bool isFirst = keepsFromStarting(a);
    return isFirst == keepsFromStarting(b) ? a.id < b.id : isFirst;
  });
  checkMalformed(subject, findings);
}
