// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// YAML that people write by hand. The file is read node by node, not through
// yaml::Input: that skips what it does not understand by recursion, which a
// file of brackets turns into a stack overflow, and says nothing of keys that
// are given twice. Here the first thing that is wrong ends the reading.

#pragma once

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"
#include <optional>
#include <string>

namespace mpg {

/// Reads one file, which is a list of KEY: VALUE unless a derived class says
/// otherwise; it gives the keys their meaning.
class YamlReader {
public:
  virtual ~YamlReader() = default;

  /// Errors name the path, and the line where there is one. \p limitBytes: far
  /// more than anybody writes.
  llvm::Error read(const std::string &path, uint64_t limitBytes);
  /// The same for text that was read: "" or "LINE: REASON".
  std::string parse(llvm::StringRef text, const std::string &path);

protected:
  /// Lines of the keys of one mapping.
  using SeenKeys = llvm::StringMap<unsigned>;

  virtual void readStream(llvm::yaml::Stream &stream);
  /// Reads one KEY: VALUE of the file itself.
  virtual void readEntry(llvm::yaml::KeyValueNode &, SeenKeys &) {}
  /// When all are read; \p line is the first that says something.
  virtual void finish(unsigned line, const SeenKeys &seen);
  /// The key of \p entry, "" if there is none; notes it in \p seen.
  std::string readKey(llvm::yaml::KeyValueNode &entry, SeenKeys &seen,
                      unsigned &line);
  /// The text of one value; nothing if it is something else, which is then
  /// said.
  std::optional<std::string> readText(const std::string &key, unsigned line,
                                      llvm::yaml::Node *value);
  unsigned getLine(const llvm::yaml::Node &node) const;
  void fail(unsigned line, const llvm::Twine &text);
  bool failed() const { return !reason.empty(); }

private:
  bool checkLines(llvm::StringRef text);

  llvm::SourceMgr sources;
  unsigned firstLine = 0; ///< that is not a comment; 0: none
  std::string reason;     ///< with the line; the first counts
};

} // namespace mpg
