// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The input of every rule over job scripts: the script, its target, the
// programs that count, and a place for findings. Each Rule<Topic>.cpp is one
// topic; JobRules.cpp runs them.

#pragma once

#include "JobRules/JobRules.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <optional>
#include <string>

namespace mpg {

// The table of environment variables. runtime/include/mpg/env.def, as the tools
// ask it: which names there are, which values they take, what they need. Values
// are judged as libmpg judges them; test/mpgaudit/job-same-values.test compares
// the two.

enum class EnvType : uint8_t { choice, uint, policy3, file, pair };
enum class EnvOwner : uint8_t { fujitsu, glibc, flib, mpg };

/// One row of env.def; the words there say what each column means.
struct EnvVariable {
  llvm::StringRef name;
  EnvType type;
  llvm::StringRef domain, fallback, needs, overriddenBy;
  EnvOwner owner;
};

llvm::ArrayRef<EnvVariable> allEnvVariables();
const EnvVariable *findEnvVariable(llvm::StringRef name);

/// The variable that \p name was probably meant to be; null if none is near.
const EnvVariable *nearestEnvVariable(llvm::StringRef name);

/// Changes of single characters that make \p b out of \p a.
unsigned editDistance(llvm::StringRef a, llvm::StringRef b);

bool isLegalValue(const EnvVariable &variable, llvm::StringRef text);

/// The legal value that \p text was probably meant to be; "" if there is no
/// near one.
std::string nearestValue(const EnvVariable &variable, llvm::StringRef text);

/// Decimal digits, or hexadecimal ones after 0x, and nothing else.
std::optional<uint64_t> parseEnvNumber(llvm::StringRef text);

// The script and its programs

/// The value that a variable has when a program starts.
struct JobValue {
  llvm::StringRef text; ///< the default if the variable is not set
  bool set = false;
  bool known = true; ///< text means nothing otherwise
  unsigned line = 0; ///< of the script; 0 if it is not set there
  bool is(llvm::StringRef value) const { return known && text == value; }
};

/// Which numbers CPUs and NUMA nodes have. HW:a64fx-job-cpus
enum class Numbering : uint8_t {
  unknown,
  fx1000, ///< CPUs 12 to 59, nodes 4 to 7: Fugaku, FX1000
  fx700   ///< CPUs 0 to 47, nodes 0 to 3
};

/// Cores of one core memory group. HW:a64fx-cmgs
constexpr unsigned coresOfGroup = 12;
constexpr unsigned groupsOfNode = 4;

class JobContext {
public:
  JobContext(const JobScript &script, llvm::ArrayRef<LaunchedProgram> programs,
             const JobSettings &settings, std::vector<Finding> &out);

  const JobScript &script;
  const JobSettings &settings;
  const Target target;
  const Numbering numbering;
  /// Starts of the user's programs, not of cp and date.
  std::vector<const JobLaunch *> launches;

  bool wants(FindingId id) const;
  /// Adds a finding about line \p line. Duplicates, in a script that starts
  /// twenty programs alike, are dropped later. pre: wants(id).
  Finding &add(FindingId id, unsigned line, const llvm::Twine &title);
  /// The same for something that may not happen: one level lower.
  Finding &add(FindingId id, unsigned line, bool conditional,
               const llvm::Twine &title);
  /// The same about \p variable, which is \p name for \p launch, with the
  /// setting as evidence.
  Finding &add(FindingId id, const JobLaunch &launch, llvm::StringRef name,
               const Variable &variable, llvm::StringRef sub,
               const llvm::Twine &title);

  /// mpgaudit's report on the program's file; null if there is none.
  const FileReport *findReport(const JobLaunch &launch) const;
  /// Its file was looked for and not found.
  bool isMissing(const JobLaunch &launch) const;
  /// What \p name is for \p launch; the default for an illegal value, as the
  /// library has it.
  JobValue getValue(const JobLaunch &launch, llvm::StringRef name) const;
  /// Large pages of the library are on; false where only the job knows.
  bool largePages(const JobLaunch &launch) const;
  /// True if one of the two libmpg acts in the program, as far as the script
  /// and the files show. Variables with unknown values do not count.
  bool mayLoadLibmpg(const JobLaunch &launch) const;
  /// The setting of \p name in \p line; null if there is none.
  const JobSetting *settingAt(llvm::StringRef name, unsigned line) const;
  /// "export A=b" as the script has it, shortened, for evidence.
  std::string settingText(llvm::StringRef name, unsigned line) const;

private:
  std::vector<Finding> &out;
  std::map<std::pair<llvm::StringRef, unsigned>, const JobSetting *> bySetting;
  std::map<const JobLaunch *, const FileReport *> byLaunch;
};

/// Signs of Intel's MPI, of GPUs and of their modules: PJM also runs machines
/// with x86-64 processors.
bool isForOtherMachine(const JobScript &script);

/// How \p setting would be written with another name or value: "export A=b",
/// "-x A=b". \p word: the value, in quotes if it needs them.
std::string writeSetting(const JobSetting &setting, llvm::StringRef name,
                         llvm::StringRef word);
/// With its own value.
std::string writeSetting(const JobSetting &setting, llvm::StringRef name);

/// The words as a line, shortened to what fits a report.
std::string commandText(llvm::ArrayRef<JobWord> words);
std::string launchText(const JobLaunch &launch);

/// \p text, cut to what fits one line of a report.
std::string shortened(llvm::StringRef text, size_t shownBytes = 72);

/// Bytes of a path or of a line that the user copies: cut, neither would work.
/// A script may hold a word of 1 MB.
constexpr size_t copiedBytes = 2000;

/// Programs of the system that a script starts by the way, with a launcher or
/// a path: large pages and threads do not matter for them.
bool isSystemTool(llvm::StringRef program);
/// The file of LD_PRELOAD that takes malloc from libmpg; "" if there is none.
llvm::StringRef findAllocator(llvm::StringRef preload);

/// "numactl" of "/usr/bin/numactl".
llvm::StringRef baseName(llvm::StringRef path);

/// The text after "Write instead:" in a fix. \p place: JobLaunch::writtenIn.
std::string writeInstead(llvm::StringRef line, llvm::StringRef place = "");

/// The default of \p variable where \p target is: two libraries differ in one.
llvm::StringRef findFallback(const EnvVariable &variable, Target target);

void checkNames(JobContext &job);        // 220 240
void checkValues(JobContext &job);       // 221 224
void checkNoEffect(JobContext &job);     // 222
void checkFallback(JobContext &job);     // 223
void checkPaging(JobContext &job);       // 225
void checkNodeMemory(JobContext &job);   // 226
void checkCpuNumbers(JobContext &job);   // 227
void checkHelgrind(JobContext &job);     // 228
void checkPreloads(JobContext &job);     // 229 236
void checkTagOverride(JobContext &job);  // 173 231
void checkSectors(JobContext &job);      // 232
void checkLeftovers(JobContext &job);    // 233
void checkStackLimit(JobContext &job);   // 234
void checkCompileLines(JobContext &job); // 235
void checkBinding(JobContext &job);      // 237
void checkUnknown(JobContext &job);      // 238 239
void checkOtherMeans(JobContext &job);   // 242
void checkOtherRisks(JobContext &job);   // 243 244
void checkContainers(JobContext &job);   // 245 246

} // namespace mpg
