// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ld.so.cache as any bytes, and lists of folders as any text. Beyond not
// crashing: what is found is a string inside the file, a name that is found
// once is found again, and no list grows beyond its bounds.

#include "Loader/LoaderSearch.h"
#include <cstdlib>

using namespace mpg;
using llvm::StringRef;

/// Every stretch of text in the input is a name that may be in the cache.
static void findEverything(const CacheFile &cache, StringRef bytes) {
  const std::vector<std::string> hwcaps = {"x86-64-v3", "x86-64-v2"};
  for (unsigned looked = 0; !bytes.empty() && looked < 64; ++looked) {
    StringRef name = bytes.take_until([](char c) { return c == 0; });
    for (Machine machine : {Machine::x86_64, Machine::aarch64}) {
      std::optional<StringRef> path = cache.find(name, machine, hwcaps);
      if (path && (path->contains('\0') || !cache.usable() ||
                   cache.find(name, machine, hwcaps) != path))
        abort();
    }
    bytes = bytes.drop_front(std::min(name.size() + 1, bytes.size()));
  }
}

/// A cache with a valid header and with \p content as entries and strings: its
/// first byte is the number of entries, its second the offset of the
/// extensions.
static std::string withHeader(StringRef content) {
  std::string bytes = "glibc-ld.so.cache1.1";
  bytes.resize(48);
  if (content.size() >= 2) {
    bytes[20] = content[0];
    bytes[32] = content[1];
    bytes += content.drop_front(2);
  }
  return bytes;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef bytes(reinterpret_cast<const char *>(data), size);
  findEverything(CacheFile(bytes.str()), bytes);
  findEverything(CacheFile(withHeader(bytes)),
                 bytes.drop_front(size > 2 ? 2 : 0));

  const PathWords words = {"/root", "lib64", "x86_64"};
  for (const std::string &folder : splitFolders(bytes, ":;", "/bin", words))
    if (folder.size() > words.sysroot.size() + maxPathBytes)
      abort();
  return 0;
}
