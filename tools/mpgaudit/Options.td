// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of mpgaudit: parsing, --help and "did you mean" are made from
// this file.

include "llvm/Option/OptParser.td"

class LongFlag<string name, string help>
    : Flag<["--"], name>, HelpText<help>;
class LongValue<string name, string metavar, string help>
    : Joined<["--"], name # "=">, MetaVarName<metavar>, HelpText<help>;

def help : LongFlag<"help", "print this text">;
def h : Flag<["-"], "h">, Alias<help>;
def version : LongFlag<"version", "print the version">;

def target : LongValue<"target", "fugaku|mpg|libhugetlbfs|thp|auto",
    "what shall put the program on large pages (default auto:\n"
    "by the file)">;
def page : LongValue<"page", "4K|16K|64K",
    "the kernel's base page (default 64K for fugaku, else 4K)">;
def huge : LongValue<"huge", "2M|32M|512M|1G|16G",
    "the large page (default 2M)">;
def min : LongValue<"min", "SIZE",
    "writable data below this is worth no warning (default 2M)">;
def memory : LongValue<"memory", "SIZE",
    "what a job may use of a node's memory (default: 28G for\n"
    "fugaku, else no limit)">;
def expect_libmpg : LongFlag<"expect-libmpg",
    "report a program that loads no large page library">;
def no_closure : LongFlag<"no-closure",
    "look at the file alone, not at the libraries it loads">;

def checks : LongValue<"checks", "GROUP|ID[,+ID,-ID...]",
    "what to look for: groups layout loader heap tags hygiene\n"
    "malformed, findings such as MPG103; + adds, - removes">;
def fail_on : LongValue<"fail-on", "error|warning|note|never",
    "exit with status 1 from this severity on (default error)">;

def format : LongValue<"format", "text|line|json|jsonl",
    "form of the report (default text)">;
def stats : LongFlag<"stats",
    "say on standard error what was audited and skipped">;
def explain : LongValue<"explain", "CODE",
    "explain a finding or a vendor's message: MPG103,\n\"LPG 2003\"">;
def explain_separate : Separate<["--"], "explain">, Alias<explain>;

def recursive : LongFlag<"recursive", "audit all ELF files in directories">;
def r : Flag<["-"], "r">, Alias<recursive>,
    HelpText<"same as --recursive">;
def files0_from : LongValue<"files0-from", "FILE",
    "read NUL-separated paths from FILE; - is standard input">;
def null_input : Flag<["-"], "0">,
    HelpText<"same as --files0-from=-">;
def jobs : LongValue<"jobs", "N",
    "number of threads (default: the number of processors)">;
def j : JoinedOrSeparate<["-"], "j">, Alias<jobs>, MetaVarName<"N">,
    HelpText<"same as --jobs=N">;
/// What follows is no option, whatever it looks like.
def dash_dash : Option<["--"], "", KIND_REMAINING_ARGS>;
