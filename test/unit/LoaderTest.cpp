// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the loader that need no program: the cache, the lists of
// folders, ld.so.conf, links in a sysroot, the store, the tree. Whole programs
// are compared with the real loader in test/mpgaudit/closure-*.test.

#include "Loader/Closure.h"
#include "Loader/LoaderSearch.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <atomic>
#include <cstring>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace mpg;
using Strings = std::vector<std::string>;

namespace {

// ld.so.cache

constexpr uint32_t x86Library = 0x0303, armLibrary = 0x0a03;

struct CacheEntry {
  uint32_t flags;
  std::string name, path;
  /// Position in the names of hwcaps; -1: the plain library.
  int hwcap = -1;
};

template <typename T> void appendValue(std::string &bytes, T value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
}

/// A cache as ldconfig writes it. pre: \p entries are in the cache's order.
std::string makeCache(const std::vector<CacheEntry> &entries,
                      const Strings &hwcaps = {}) {
  uint32_t stringsAt = uint32_t(48 + 24 * entries.size());
  std::string strings, table;
  auto add = [&](const std::string &text) {
    uint32_t at = stringsAt + uint32_t(strings.size());
    strings += text + '\0';
    return at;
  };
  for (const CacheEntry &entry : entries) {
    appendValue(table, entry.flags);
    appendValue(table, add(entry.name));
    appendValue(table, add(entry.path));
    appendValue(table, uint32_t(0));
    appendValue(table, entry.hwcap < 0
                           ? uint64_t(0)
                           : uint64_t(1) << 62 | uint64_t(entry.hwcap));
  }
  std::string names;
  for (const std::string &hwcap : hwcaps)
    appendValue(names, add(hwcap));
  strings.resize((strings.size() + 3) & ~size_t(3));
  uint32_t extensionAt = stringsAt + uint32_t(strings.size());
  std::string bytes = "glibc-ld.so.cache1.1";
  appendValue(bytes, uint32_t(entries.size()));
  appendValue(bytes, uint32_t(strings.size()));
  appendValue(bytes, uint32_t(2)); // little endian
  appendValue(bytes, extensionAt);
  bytes.resize(48);
  bytes += table + strings;
  appendValue(bytes, uint32_t(0xeaa42174));
  appendValue(bytes, uint32_t(1));
  for (uint32_t word :
       {uint32_t(1), uint32_t(0), extensionAt + 24, uint32_t(names.size())})
    appendValue(bytes, word);
  return bytes + names;
}

std::string find(const CacheFile &cache, llvm::StringRef name,
                 Strings hwcaps = {}, Machine machine = Machine::x86_64) {
  return cache.find(name, machine, hwcaps).value_or("none").str();
}

const std::vector<CacheEntry> threeLibraries = {
    {x86Library, "libc.so.10", "/lib/libc.so.10"},
    {armLibrary, "libc.so.9", "/arm/libc.so.9"},
    {x86Library, "libc.so.9", "/lib/libc.so.9"},
    {x86Library, "liba.so", "/lib/liba.so"}};

TEST(CacheFile, FindsTheLibraryOfTheMachine) {
  CacheFile cache(makeCache(threeLibraries));
  ASSERT_TRUE(cache.usable());
  EXPECT_EQ(find(cache, "libc.so.10"), "/lib/libc.so.10");
  EXPECT_EQ(find(cache, "libc.so.9"), "/lib/libc.so.9");
  EXPECT_EQ(find(cache, "liba.so"), "/lib/liba.so");
  EXPECT_EQ(find(cache, "libc.so.9", {}, Machine::aarch64), "/arm/libc.so.9");
  EXPECT_EQ(find(cache, "liba.so", {}, Machine::aarch64), "none");
  for (const char *absent : {"", "lib", "libb.so", "libc.so.11", "libz.so"})
    EXPECT_EQ(find(cache, absent), "none") << absent;
}

TEST(CacheFile, TakesTheBestFolderOfTheProcessor) {
  CacheFile cache(makeCache({{x86Library, "liba.so", "/v2/liba.so", 0},
                             {x86Library, "liba.so", "/v3/liba.so", 1},
                             {x86Library, "liba.so", "/lib/liba.so"}},
                            {"x86-64-v2", "x86-64-v3"}));
  EXPECT_EQ(find(cache, "liba.so", {"x86-64-v3", "x86-64-v2"}), "/v3/liba.so");
  EXPECT_EQ(find(cache, "liba.so", {"x86-64-v2"}), "/v2/liba.so");
  EXPECT_EQ(find(cache, "liba.so"), "/lib/liba.so");
}

TEST(CacheFile, ReadsTheFormatBehindTheOldOne) {
  std::string old = "ld.so-1.7.0";
  old.resize(12);
  appendValue(old, uint32_t(3));
  old.resize(16 + 3 * 12 + 4); // to the next multiple of 8
  CacheFile cache(old + makeCache(threeLibraries));
  EXPECT_EQ(find(cache, "libc.so.9"), "/lib/libc.so.9");
  // The old format alone has not been written for twenty years.
  EXPECT_FALSE(CacheFile(old).usable());
}

TEST(CacheFile, DamageIsNotFollowed) {
  std::string good = makeCache(threeLibraries, {"x86-64-v2"});
  for (size_t length = 0; length < good.size(); ++length) {
    CacheFile cut(good.substr(0, length));
    EXPECT_EQ(cut.usable(), length >= 48 + 4 * 24) << length;
    find(cut, "libc.so.9", {"x86-64-v2"});
  }
  auto damaged = [&](size_t at, uint32_t value) {
    std::string bytes = good;
    memcpy(&bytes[at], &value, sizeof value);
    return CacheFile(bytes);
  };
  EXPECT_FALSE(damaged(0, 0).usable());           // magic
  EXPECT_FALSE(damaged(20, UINT32_MAX).usable()); // number of entries
  EXPECT_FALSE(damaged(20, 100).usable());
  EXPECT_FALSE(damaged(28, 3).usable()); // big endian
  for (size_t field = 48; field < 48 + 4 * 24; field += 4) {
    std::string path = find(damaged(field, UINT32_MAX), "libc.so.9");
    EXPECT_TRUE(path == "none" || path == "/lib/libc.so.9") << field << path;
  }
  // Offsets of the extension, its section and its names.
  for (uint32_t value : {1u, 47u, uint32_t(good.size() - 1), UINT32_MAX})
    EXPECT_EQ(find(damaged(32, value), "libc.so.9", {"x86-64-v2"}),
              "/lib/libc.so.9");
}

TEST(CacheFile, NumbersInNamesCountByValue) {
  const char *descending[] = {"libz.so", "libc.so.10", "libc.so.9", "libc.so.1",
                              "libc.so", "liba10",     "liba9x"};
  for (size_t i = 0; i + 1 < std::size(descending); ++i) {
    EXPECT_GT(compareCacheNames(descending[i], descending[i + 1]), 0) << i;
    EXPECT_LT(compareCacheNames(descending[i + 1], descending[i]), 0) << i;
    EXPECT_EQ(compareCacheNames(descending[i], descending[i]), 0) << i;
  }
  // Beyond what a machine word holds.
  EXPECT_GT(compareCacheNames("a99999999999999999999999", "a2"), 0);
}

// Lists of folders

const PathWords here = {"", "lib64", "x86_64"};
const PathWords inRoot = {"/root", "lib64", "aarch64"};

TEST(SearchPath, ReplacesWords) {
  auto expand = [](llvm::StringRef path) {
    return expandPath(path, "/opt/app/bin", here);
  };
  EXPECT_EQ(expand("$ORIGIN/../lib"), "/opt/app/bin/../lib");
  EXPECT_EQ(expand("${ORIGIN}/../$LIB/${PLATFORM}"),
            "/opt/app/bin/../lib64/x86_64");
  EXPECT_EQ(expand("/x/$LIB"), "/x/lib64");
  for (const char *unknown :
       {"/$ORIGINAL", "/${ORIGIN", "/$", "/${LIB_}", "/$HOME/x"})
    EXPECT_EQ(expand(unknown), unknown);
  EXPECT_EQ(expand("/" + std::string(5000, 'x')), "");
}

TEST(SearchPath, SysrootGoesInFrontOfAbsolutePaths) {
  EXPECT_EQ(expandPath("/usr/lib", "/root/bin", inRoot), "/root/usr/lib");
  // The folder of a file has it already, or lies outside.
  EXPECT_EQ(expandPath("$ORIGIN/lib", "/root/bin", inRoot), "/root/bin/lib");
  EXPECT_EQ(expandPath("$ORIGIN/lib", "/home/a", inRoot), "/home/a/lib");
  EXPECT_EQ(expandPath("lib", "/home/a", inRoot), "");
}

TEST(SearchPath, SplitsLists) {
  auto split = [](llvm::StringRef list, llvm::StringRef separators) {
    return splitFolders(list, separators, "/o", here);
  };
  char current[4096];
  ASSERT_TRUE(getcwd(current, sizeof current));
  EXPECT_EQ(split("", ":"), Strings());
  EXPECT_EQ(split("/a:/b//:/a", ":"), (Strings{"/a", "/b"}));
  EXPECT_EQ(split("/a;/b:/c", ":;"), (Strings{"/a", "/b", "/c"}));
  EXPECT_EQ(split("/a;/b", ":"), (Strings{"/a;/b"}));
  EXPECT_EQ(split("/a::/b", ":"), (Strings{"/a", current, "/b"}));
  EXPECT_EQ(split(":/a", ":"), (Strings{current, "/a"}));
  EXPECT_EQ(split("x", ":"), (Strings{std::string(current) + "/x"}));
  std::string many;
  for (int i = 0; i < 100000; ++i)
    many += "/" + std::to_string(i) + ":";
  EXPECT_EQ(split(many, ":").size(), 1024u);
}

// Files

/// A folder that is removed with all that is in it.
class Folder {
public:
  Folder() {
    char name[] = "/tmp/mpg-loader-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() {
    std::string command = "rm -rf " + path;
    if (system(command.c_str()) != 0)
      ADD_FAILURE() << command;
  }
  void makeFolder(const std::string &name) const {
    ASSERT_EQ(mkdir((path + name).c_str(), 0755), 0) << name;
  }
  void write(const std::string &name, const std::string &text) const {
    std::ofstream(path + name) << text;
  }
  void link(const std::string &name, const std::string &target) const {
    ASSERT_EQ(symlink(target.c_str(), (path + name).c_str()), 0) << name;
  }

  std::string path;
};

TEST(LoaderConfig, ReadsIncludedFiles) {
  Folder root;
  root.makeFolder("/etc");
  root.makeFolder("/etc/ld.so.conf.d");
  root.write("/etc/ld.so.conf",
             "# first\n/opt/one/ # behind\ninclude ld.so.conf.d/*.conf\n"
             "hwcap 1 nosegneg\nrelative\ninclude /etc/absent.conf\n/opt/two\n"
             "/opt/old=libc6\n/opt/one\n");
  root.write("/etc/ld.so.conf.d/b.conf", "/b\n");
  // It includes all of them, itself too.
  root.write("/etc/ld.so.conf.d/a.conf",
             "/a\ninclude /etc/ld.so.conf.d/*.conf");
  Strings expected;
  for (const char *folder : {"/opt/one", "/a", "/b", "/opt/two", "/opt/old"})
    expected.push_back(root.path + folder);
  EXPECT_EQ(readLoaderConfig(root.path), expected);
  EXPECT_EQ(readLoaderConfig(root.path + "/none"), Strings());
}

TEST(LoaderConfig, ReadsPreloads) {
  Folder root;
  root.makeFolder("/etc");
  root.write("/etc/ld.so.preload", "/a.so:/b.so # c\n#d\n\te.so\n");
  EXPECT_EQ(readPreloadFile(root.path), (Strings{"/a.so", "/b.so", "e.so"}));
  EXPECT_EQ(readPreloadFile(root.path + "/none"), Strings());
}

TEST(SysrootPath, AbsoluteLinksStayInside) {
  Folder root;
  root.makeFolder("/usr");
  root.makeFolder("/usr/lib");
  root.link("/lib", "usr/lib");
  root.link("/usr/lib/a", "/lib/b");
  root.link("/usr/lib/up", "../../../../usr");
  root.link("/loop", "/loop");
  auto follow = [&](const std::string &path) {
    return followLinks(root.path + path, root.path);
  };
  EXPECT_EQ(follow("/lib/a"), root.path + "/usr/lib/b");
  EXPECT_EQ(follow("/lib/up/lib//./x"), root.path + "/usr/lib/x");
  EXPECT_EQ(follow("/loop/x"), root.path + "/loop/x");
  EXPECT_EQ(followLinks("/etc/mtab", root.path), "/etc/mtab");
  EXPECT_EQ(followLinks(root.path + "/lib", ""), root.path + "/lib");
}

// Store and tree

/// The C library of whatever runs this test.
std::string pathOfLibc() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("/libc.so") != std::string::npos)
      return line.substr(line.find('/'));
  return "";
}

TEST(LibraryStore, ReadsEachFileOnce) {
  std::string libc = pathOfLibc();
  ASSERT_NE(libc, "");
  Folder folder;
  folder.link("/other.so", libc);
  std::atomic<int> calls{0};
  LibraryStore::State store;
  store.collector = [&](Image &) {
    ++calls;
    return std::shared_ptr<const LibraryCheckFacts>();
  };
  std::vector<std::thread> threads;
  std::atomic<const LibraryFile *> first{nullptr};
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      const LibraryFile *file =
          store.find(i % 2 ? libc : folder.path + "/other.so", "");
      const LibraryFile *before = nullptr;
      bool isFirst = first.compare_exchange_strong(before, file);
      EXPECT_TRUE(isFirst || before == file);
    });
  for (std::thread &thread : threads)
    thread.join();
  ASSERT_NE(first.load(), nullptr);
  EXPECT_EQ(first.load()->facts.soname, "libc.so.6");
  EXPECT_EQ(calls, 1);
}

TEST(LibraryStore, SaysWhyAFileIsNoLibrary) {
  Folder folder;
  folder.write("/script", "#!/bin/sh\n" + std::string(64, '#'));
  folder.write("/cut", "\x7f"
                       "ELF");
  LibraryStore::State store;
  auto reasonFor = [&](const std::string &name) {
    const LibraryFile *file = store.find(folder.path + name, "");
    EXPECT_TRUE(file && file->verdict != PathVerdict::library);
    return file ? file->reason : "";
  };
  EXPECT_EQ(store.find(folder.path + "/none", ""), nullptr);
  EXPECT_EQ(reasonFor("/script"), folder.path + "/script: invalid ELF header");
  EXPECT_EQ(reasonFor(""),
            folder.path + ": cannot read file data: Error 21 (a folder)");
  EXPECT_EQ(reasonFor("/cut"), folder.path + "/cut: file too short");
}

/// p needs a and c; a needs b; b needs a (a circle) and c, which is missing.
Closure makeClosure() {
  Closure closure;
  auto add = [&](const char *name, const char *path, int askedBy,
                 std::vector<unsigned> needs) {
    ClosureEntry entry;
    entry.name = name;
    entry.path = path;
    entry.reason = *path ? "" : "not found";
    entry.askedBy = askedBy;
    entry.needs = std::move(needs);
    closure.libraries.push_back(std::move(entry));
  };
  add("x.so", "/x.so", ClosureEntry::preload, {3});
  add("a.so", "/a.so", ClosureEntry::program, {3});
  add("c.so", "", ClosureEntry::program, {});
  add("b.so", "/b.so", 0, {1, 2});
  closure.programNeeds = {1, 2};
  return closure;
}

TEST(Closure, PathNamesEveryoneOnTheWay) {
  Closure closure = makeClosure();
  EXPECT_EQ(closure.pathTo(0), "LD_PRELOAD > x.so");
  EXPECT_EQ(closure.pathTo(1), "a.so");
  EXPECT_EQ(closure.pathTo(3), "LD_PRELOAD > x.so > b.so");
}

TEST(Closure, TreeShowsEachSubtreeOnce) {
  std::string text;
  llvm::raw_string_ostream out(text);
  writeTree(out, "p\x1b[m", makeClosure());
  EXPECT_EQ(out.str(), "p\\x1b[m\n"
                       "    x.so => /x.so (preloaded)\n"
                       "        b.so => /b.so\n"
                       "            a.so => /a.so\n"
                       "                b.so => /b.so (shown above)\n"
                       "            c.so => missing: not found\n"
                       "    a.so => /a.so (shown above)\n"
                       "    c.so => missing: not found (shown above)\n");
}

} // namespace
