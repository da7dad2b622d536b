// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads JSON that may be anybody's: a file of an earlier run, or what another
// process said.

#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <vector>

namespace mpg {

/// More brackets lie in each other than in any file of ours. LLVM's parser
/// calls itself for each, so that such a text would end the program.
bool isDeepJson(llvm::StringRef text);

/// \p text as JSON. Refused before it is parsed: more than \p maxBytes, and
/// what is deep.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text,
                                            size_t maxBytes);

/// One object that came from a file or from another process, and its place. All
/// of one file share one error text: the first thing that is wrong, such as
/// "experiments[0].points[3].samples: not a list". Everything after it reads as
/// empty, so that the caller asks once, at the end.
class JsonFields {
public:
  /// \p place: "" for the whole file.
  JsonFields(const llvm::json::Value &value, std::string place,
             std::string &error);

  std::string text(llvm::StringRef key) const;
  std::string textOrNull(llvm::StringRef key) const; ///< null: ""
  bool boolean(llvm::StringRef key) const;
  uint64_t count(llvm::StringRef key) const; ///< an integer, 0 or above
  std::optional<uint64_t> countOrNull(llvm::StringRef key) const;
  double number(llvm::StringRef key) const; ///< finite
  /// Above 0, and so that logarithms, quotients and sums stay finite.
  double positive(llvm::StringRef key) const;
  bool isNull(llvm::StringRef key) const;
  bool has(llvm::StringRef key) const; ///< no error if not
  /// A list of integers, 0 or above; of texts.
  std::vector<uint64_t> counts(llvm::StringRef key) const;
  std::vector<std::string> texts(llvm::StringRef key) const;
  JsonFields object(llvm::StringRef key) const;
  /// Each entry of a list of objects. More than \p maxEntries are an error.
  void each(llvm::StringRef key, size_t maxEntries,
            llvm::function_ref<void(const JsonFields &)> visit) const;
  /// Names and finite numbers of an object.
  void
  eachNumber(llvm::StringRef key, size_t maxEntries,
             llvm::function_ref<void(llvm::StringRef, double)> visit) const;

  /// Something else that is wrong with \p key.
  void fail(llvm::StringRef key, const llvm::Twine &what) const;

private:
  const llvm::json::Value *get(llvm::StringRef key) const;
  const llvm::json::Array *getList(llvm::StringRef key) const;
  std::string getPlace(llvm::StringRef key) const;

  const llvm::json::Object *fields; ///< null: it is none, or an error before it
  std::string place;
  std::string &error;
};

} // namespace mpg
