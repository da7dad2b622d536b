// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the tests of lib/Policy: a folder for files, and two findings.

#pragma once

#include "Policy/Policy.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

namespace mpg {

/// A folder that is removed with the test.
class Folder {
public:
  Folder() {
    llvm::SmallString<128> made;
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("policy", made));
    llvm::SmallString<128> real;
    EXPECT_FALSE(llvm::sys::fs::real_path(made, real));
    path = real.str().str();
  }
  ~Folder() { llvm::sys::fs::remove_directories(path); }
  std::string operator/(llvm::StringRef name) const {
    return path + "/" + name.str();
  }
  std::string write(llvm::StringRef name, llvm::StringRef text) const {
    std::string file = *this / name;
    llvm::sys::fs::create_directories(llvm::sys::path::parent_path(file));
    std::error_code error;
    llvm::raw_fd_ostream(file, error) << text;
    EXPECT_FALSE(error) << file;
    return file;
  }
  std::string path;
};

inline Finding finding(FindingId id, llvm::StringRef title,
                       llvm::StringRef symbol = "") {
  Finding made = {};
  made.id = id;
  made.severity = Severity::warning;
  made.title = title.str();
  made.where.symbol = symbol.str();
  return made;
}

inline const Finding brkUse =
    finding(FindingId::mpg130, "the file takes memory by sbrk", "sbrk");
inline const Finding overlap =
    finding(FindingId::mpg103, ".data at 0x404000 shares a 2 MiB page with "
                               ".eh_frame (segments 2 and 3)");

} // namespace mpg
