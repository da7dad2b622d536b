// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A project's decisions about findings: its configuration file, the
// findings that it accepts, with a reason for each, and its old
// ones.

#pragma once

#include "Audit/Audit.h"
#include "Audit/Finding.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <bitset>
#include <map>
#include <string>
#include <vector>

namespace mpg {

// Patterns of names. For paths and symbols, as a shell has them, with ** added:
// * and ? stay within one part of a path, ** crosses slashes. llvm::GlobPattern
// does not know the difference. Matching takes time in proportion to the two
// lengths, whatever the pattern: patterns come from files.

/// * ? [a-z] [!a-z] **, and \ in front of a character that stands for itself.
/// "**/x" is x in any folder or in none; "x/**" is all that is in x.
class Glob {
public:
  /// The error's text is the reason alone.
  static llvm::Expected<Glob> parse(llvm::StringRef pattern);
  /// For absolute paths. A pattern that does not begin with a slash may begin
  /// at any part of one: "bin/app" is /home/me/project/bin/app as well.
  static llvm::Expected<Glob> parsePath(llvm::StringRef pattern);

  /// Whether all of \p text matches.
  bool match(llvm::StringRef text) const;
  /// Whether it has no wildcard.
  bool isLiteral() const;

private:
  enum class Kind : uint8_t {
    oneOf,        ///< one character of the set
    star,         ///< any number of characters, but no slash
    doubleStar,   ///< any number of characters
    maybeFolders, ///< "**/": the next token, or the one after it
    inFolders,    ///< any number of characters; the last one is a slash
  };
  struct Token {
    Kind kind;
    std::bitset<256> set;
  };

  void add(Kind kind);
  void addCharacter(char character);
  void addFolders();
  std::string addSet(llvm::StringRef pattern, size_t &at);
  bool endsAlike(llvm::StringRef text) const;
  void enter(std::vector<bool> &states, size_t state) const;

  std::vector<Token> tokens;
  bool wild = false;
};

// The identity of a finding. From one run to the next; and one name for a file
// however it was written: "./a", "a" and "b/../a" are the same. Names are
// compared as text first and symbolic links are followed only where text does
// not help: "current/app" has to stay the same file when "current" points to
// another build tomorrow.

/// Absolute, without "." and "//", and ".." taken as text.
std::string absolutePath(llvm::StringRef path);

/// A folder that files are named from.
class BaseFolder {
public:
  BaseFolder() = default;
  /// The folder of \p file, which need not exist.
  static BaseFolder of(llvm::StringRef file);

  /// "bin/app", or "../bin/app" for what lies elsewhere. Bytes that are not
  /// UTF-8 are written as \\xe9. pre: made by of().
  std::string getName(llvm::StringRef path) const;

private:
  std::string written; ///< absolute, as the user names it
  std::string real;    ///< without symbolic links
};

/// 16 hexadecimal digits. \p path as the report shows it ("./a" is "a"), or ""
/// for what is the same in every file.
std::string computeFingerprint(const Finding &finding, llvm::StringRef path);

/// \p text with # in place of numbers and sizes: "RELRO at # shares a # page".
/// Digits of names stay.
std::string withoutNumbers(llvm::StringRef text);

// Decisions

/// One accepted finding. Globs: * ? [a-z] **, as a shell.
struct Suppression {
  std::string id; ///< "MPG130"
  /// Glob over the path as reported, made absolute; "" is any. One that does
  /// not begin with a slash may begin at any folder of it.
  std::string path;
  std::string symbol;  ///< glob over Where::symbol; "" is any
  std::string reason;  ///< never empty
  std::string expires; ///< "2027-01-31", the last day it counts; "" is never
  std::string origin;  ///< "file:line" for messages
  /// Given on the command line: about the files of this run and no others.
  bool forThisRun = false;
};

/// A key that a configuration file may have.
struct ConfigurationKey {
  llvm::StringRef name;
  bool isSwitch = false; ///< its value is true or false
  bool isList = false;   ///< it may have several values
  bool isPath = false;   ///< of a file, from the folder of the configuration on
};

/// .mpgaudit.yaml. Each key is the option of the same name; an option on the
/// command line wins.
struct Configuration {
  /// One value of a key. Switches have "true" or "false", paths begin with the
  /// folder of the configuration or are absolute.
  struct Entry {
    std::string key, value;
    unsigned line;
  };
  std::string path;
  std::vector<Entry> entries; ///< in the order of the file
  std::vector<Suppression> suppressions;
};

/// --suppress="MPG130;path=*/bin/x;symbol=sbrk;reason=old;expires=2027-01-31":
/// the keys of an entry with ; between, the finding first.
llvm::Expected<Suppression> parseSuppression(llvm::StringRef text);

/// Collects one suppression key by key; the keys are the same in a
/// configuration file and on the command line. Errors are text without a place,
/// which only the caller knows; "" without an error.
class SuppressionReader {
public:
  std::string set(llvm::StringRef key, llvm::StringRef value);
  /// The missing part.
  std::string finish() const;
  /// pre: nothing was wrong.
  Suppression release() { return std::move(suppression); }

private:
  Suppression suppression;
};

/// "2027-01-31", a day that exists.
bool isDate(llvm::StringRef text);

/// The nearest .mpgaudit.yaml in \p folder or above it; "" if there is none.
/// Links in \p folder are not followed on the way up. A file that belongs to
/// neither this user nor root is skipped and added to \p foreign: another user
/// must not decide what is clean.
std::string findConfiguration(const std::string &folder,
                              std::vector<std::string> *foreign = nullptr);

/// Errors name the file, the line and the nearest key that exists.
/// \p keys: beside "suppress".
llvm::Expected<Configuration>
readConfiguration(const std::string &path,
                  llvm::ArrayRef<ConfigurationKey> keys);

/// False for what makes a file unusable: hiding it would turn "this was not
/// audited" into "clean".
bool canBeAccepted(const Finding &finding);

/// Findings that checks look for in a file that is audited for \p target; those
/// that only a job script can have are not among them.
FindingSet lookedFor(const AuditSettings &settings, Target target);

/// Takes accepted findings out of reports. Thread-safe.
class Suppressor {
public:
  /// \p today: "2026-11-22"; suppressions that expired before do not count.
  Suppressor(std::vector<Suppression> list, std::string today);
  ~Suppressor();

  /// How many findings were taken out. \p path: of the file or job script.
  /// \p looked: what a check looked for in it; null is everything.
  unsigned apply(std::vector<Finding> &findings, llvm::StringRef path,
                 const FindingSet *looked = nullptr);

  /// One line for each suppression that has expired or that no finding needed.
  /// The latter only where this run can know: a file that the entry is about
  /// was audited, its finding was looked for, and no file elsewhere can need
  /// it. That is so if the entry names one file, comes from the command line,
  /// or the run covered the \p whole project.
  std::vector<std::string> complaints(bool whole = false) const;

private:
  struct State;
  std::unique_ptr<State> state;
};

/// Findings that were there before. In the file, schema mpgbaseline-1 (JSON),
/// each has a line with the path of its program from the folder of the file, so
/// that it is good for every checkout, and its fingerprint.
class Baseline {
public:
  /// Errors: unreadable, not JSON, another schema version.
  static llvm::Expected<Baseline> read(const std::string &path);

  void add(const Finding &finding, llvm::StringRef path);
  bool contains(const Finding &finding, llvm::StringRef path) const;
  /// Takes out what is in it; returns how many. Thread-safe.
  unsigned apply(std::vector<Finding> &findings, llvm::StringRef path) const;
  /// Whole or not at all: written beside it and renamed.
  llvm::Error write(const std::string &path) const;

  /// In the order of the file.
  struct Entry {
    std::string path, id, fingerprint;
    bool operator<(const Entry &other) const;
  };

private:
  std::string getName(llvm::StringRef path) const;

  /// Paths are named from here; nothing: they are absolute, because the file
  /// is not yet known.
  std::optional<BaseFolder> folder;
  std::map<Entry, std::string> entries; ///< with the title, without numbers
};

/// What --diff prints about two builds of a program: findings that came, that
/// went, that changed in severity, and bytes on large pages; one line if
/// nothing did. True if it became worse: a new warning or error, a higher
/// severity, or a region that loses large pages.
bool writeDiff(llvm::raw_ostream &out, const FileReport &before,
               const FileReport &after);

} // namespace mpg
