// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much .data and .bss a link will have, guessed from its inputs before it
// runs, and whether it gets the layout therefore. An upper bound: every archive
// member counts although few are linked, and nothing is collected as garbage.
// Reads section headers and the global half of symbol tables only.
//
// In two steps: objects at once, the rest where and when it costs no time.

#pragma once

#include "Link/DriverArgs.h"

namespace mpg {

struct ScanResult {
  std::optional<Machine> machine; ///< of -m, else of the first input
  uint64_t dataBytes = 0;         ///< .data, .bss, COMMON; large ones too
  bool large = false;             ///< .ldata, .lbss or such code
  uint64_t bitcodeBytes = 0;      ///< size of LTO inputs
  /// Sections without contents that LTO inputs name, each once.
  std::vector<std::string> lateSections;
  /// Objects that hold nothing but gcc's own LTO code, and archives with such
  /// members; scanFiles() knows the latter only.
  std::vector<std::string> slimObjects, slimArchives;
  /// Files that ask for an executable stack, or have members that do.
  std::vector<std::string> stackCode;
  /// lld reads a pipe (<(...) of a shell), which can be read only once: no scan
  /// and no second link. Known to scanObjects() only.
  bool readsPipe = false;
};

/// Inputs that scanObjects() skips: its cost grows with the size of the files,
/// and LLVM's bitcode reader can crash on a damaged one.
struct UnscannedInputs {
  std::vector<LinkInput> archives; ///< also all libraries
  std::vector<LinkInput> bitcode;
};

/// Scans the objects of the command line, which is quick and safe. Files that
/// cannot be found or read count nothing, here and in scanFiles(): lld will say
/// so.
ScanResult scanObjects(const LinkRequest &request, UnscannedInputs &rest);

/// Scans \p inputs of any kind. An archive is left as soon as it has
/// \p enoughBytes of data.
ScanResult scanFiles(const LinkRequest &request,
                     llvm::ArrayRef<LinkInput> inputs, uint64_t enoughBytes);

/// Adds \p from to \p into; of the machine the first one known counts.
void merge(ScanResult &into, const ScanResult &from);

/// All but slimObjects, which scanFiles() does not know.
std::string writeScanResult(const ScanResult &result);
ScanResult readScanResult(llvm::StringRef text);

// The plan of a link. Guessed from the inputs before the link, judged by the
// output after it. Pure functions.
//
// The layout is wanted only where .data and .bss are large, and how large they
// are is known only after the link. When the guess was wrong a second link
// follows, if that is quick: in practice a small program that is linked from
// large archives. One that would not be quick (a large output, LTO) is not
// worth the 2 MiB that it would save: the layout then stays although the data
// is small. So it does where inputs can be read only once.

/// How one run of lld is to lay out its output.
struct LinkPlan {
  bool align = false; ///< false: the layout is skipped
  bool large = false; ///< .ldata and .lbss as well
  bool text = false;  ///< code and constants: --mpg-text
  std::vector<std::string> lateSections;
  bool operator==(const LinkPlan &other) const;
  bool operator!=(const LinkPlan &other) const { return !(*this == other); }
};

/// The contents of a finished output.
struct OutputFacts {
  bool readable = false;
  bool sized = false; ///< dataBytes is known: there are section headers
  uint64_t fileBytes = 0;
  uint64_t dataBytes = 0;
  bool large = false;
  std::vector<std::string> lateSections; ///< after the end of the layout
  std::vector<std::string> broken;       ///< promises of the layout
  uint64_t textBytes = 0; ///< of code, or of constants if they are more
  /// Why code and constants cannot be on large pages.
  std::vector<std::string> textBroken;
};

/// What --mpg-text needs at least to gain anything: so many bytes of code or of
/// constants. --mpg-min below a large page lowers it.
uint64_t minTextBytes(const LinkRequest &request);

/// The plan that the inputs ask for, as far as they are scanned.
LinkPlan planOfInputs(const LinkRequest &request, const ScanResult &scan);

/// The plan that \p output needs, which was linked by \p plan; the same one if
/// a second link would change nothing.
LinkPlan planOfOutput(const LinkRequest &request, const ScanResult &scan,
                      const LinkPlan &plan, const OutputFacts &output);

} // namespace mpg
