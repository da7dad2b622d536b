// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of mpgaudit: parsing, --help, "did you mean", completion and the
// keys of .mpgaudit.yaml are made from this file.

include "llvm/Option/OptParser.td"

// What a configuration file may have, by the option's name (Options.h).
def fileKey : OptionFlag;
def fileList : OptionFlag; // a list, or one value
def filePath : OptionFlag; // from the folder of the file on
class Key : Flags<[fileKey]>;
class ListKey : Flags<[fileKey, fileList]>;
class PathKey : Flags<[fileKey, filePath]>;

class LongFlag<string name, string help>
    : Flag<["--"], name>, HelpText<help>;
class LongValue<string name, string metavar, string help>
    : Joined<["--"], name # "=">, MetaVarName<metavar>, HelpText<help>;

def help : LongFlag<"help", "print this text">;
def h : Flag<["-"], "h">, Alias<help>;
def version : LongFlag<"version", "print the version">;

def target : LongValue<"target", "fugaku|mpg|libhugetlbfs|thp|auto",
    "what shall put the program on large pages (default auto:\n"
    "by the file)">, Key;
def page : LongValue<"page", "4K|16K|64K",
    "the kernel's base page (default 64K for fugaku, else 4K)">, Key;
def huge : LongValue<"huge", "2M|32M|512M|1G|16G",
    "the large page (default 2M)">, Key;
def min : LongValue<"min", "SIZE",
    "writable data below this is worth no warning (default 2M)">, Key;
def memory : LongValue<"memory", "SIZE",
    "what a job may use of a node's memory (default: 28G for\n"
    "fugaku, else no limit)">, Key;
def expect_libmpg : LongFlag<"expect-libmpg",
    "report a program that loads no large page library">, Key;

def closure : LongFlag<"closure",
    "look at the libraries that a program loads as well\n"
    "(default)">, Key;
def no_closure : LongFlag<"no-closure",
    "look at the file alone, not at the libraries it loads">;
def tree : LongFlag<"tree",
    "print the libraries that each program loads, no report">;
def sysroot : LongValue<"sysroot", "DIR",
    "look for libraries in the system under DIR">, PathKey;
def sysroot_separate : Separate<["--"], "sysroot">, Alias<sysroot>;
def env : LongValue<"env", "NAME=VALUE",
    "a variable that the program will be started with">, ListKey;
def env_separate : Separate<["--"], "env">, Alias<env>;
def job : LongValue<"job", "SCRIPT",
    "audit a job script and the programs that it starts\n"
    "(PJM, Slurm, PBS, Grid Engine, plain shell)">;
def job_separate : Separate<["--"], "job">, Alias<job>;
def recommend : LongFlag<"recommend",
    "print the settings to use, with reasons, no report">;
def pid : LongValue<"pid", "N",
    "audit a running process and say what of it is on large\npages now">;
def pid_separate : Separate<["--"], "pid">, Alias<pid>;
def diff : LongFlag<"diff",
    "say what changed between two builds: --diff BEFORE AFTER">;

def checks : LongValue<"checks", "GROUP|ID[,+ID,-ID...]",
    "what to look for: groups layout loader heap tags hygiene\n"
    "job malformed, findings such as MPG103; + adds, - removes">, ListKey;
def fail_on : LongValue<"fail-on", "error|warning|note|never",
    "exit with status 1 from this severity on (default error)">, Key;

def config : LongValue<"config", "FILE",
    "the project's settings (default: .mpgaudit.yaml beside\n"
    "the first file, or above it)">;
def config_separate : Separate<["--"], "config">, Alias<config>;
def no_config : LongFlag<"no-config", "read no .mpgaudit.yaml">;
def suppress : LongValue<"suppress", "ID;reason=TEXT[;path=GLOB][;symbol=GLOB][;expires=DATE]",
    "accept findings">;
def suppress_separate : Separate<["--"], "suppress">, Alias<suppress>;
def baseline : LongValue<"baseline", "FILE",
    "only findings that are not in FILE count">, PathKey;
def baseline_separate : Separate<["--"], "baseline">, Alias<baseline>;
def write_baseline : LongValue<"write-baseline", "FILE",
    "write all findings to FILE, for --baseline">;
def write_baseline_separate : Separate<["--"], "write-baseline">, Alias<write_baseline>;

def format : LongValue<"format", "text|line|json|jsonl|sarif|html",
    "form of the report (default text)">, Key;
def verbose : LongFlag<"verbose",
    "all that is known: findings that cost the target nothing,\n"
    "the flags of every compiler, the table of regions">;
def v : Flag<["-"], "v">, Alias<verbose>, HelpText<"same as --verbose">;
def stats : LongFlag<"stats",
    "say on standard error what was audited and skipped">;
def explain : LongValue<"explain", "CODE",
    "explain a finding or a vendor's message: MPG103,\n\"LPG 2003\", 2003, a word "
    "of fcc's, or a pasted line\nof a report, a job script or a build">;
def explain_separate : Separate<["--"], "explain">, Alias<explain>;

/// For the shells' completion: what the last word may become.
def autocomplete : Joined<["--"], "autocomplete=">, Flags<[HelpHidden]>;

def recursive : LongFlag<"recursive", "audit all ELF files in directories">;
def r : Flag<["-"], "r">, Alias<recursive>,
    HelpText<"same as --recursive">;
def files0_from : LongValue<"files0-from", "FILE",
    "read NUL-separated paths from FILE; - is standard input">;
def null_input : Flag<["-"], "0">,
    HelpText<"same as --files0-from=-">;
def jobs : LongValue<"jobs", "N",
    "number of threads (default: the number of processors)">, Key;
def j : JoinedOrSeparate<["-"], "j">, Alias<jobs>, MetaVarName<"N">,
    HelpText<"same as --jobs=N">;
/// What follows is no option, whatever it looks like.
def dash_dash : Option<["--"], "", KIND_REMAINING_ARGS>;
