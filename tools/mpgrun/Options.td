// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of mpgrun: parsing, --help and "did you mean" are made from this
// file.

include "llvm/Option/OptParser.td"

class LongFlag<string name, string help>
    : Flag<["--"], name>, HelpText<help>;
class LongValue<string name, string metavar, string help>
    : Joined<["--"], name # "=">, MetaVarName<metavar>, HelpText<help>;

def help : LongFlag<"help", "print this text">;
def h : Flag<["-"], "h">, Alias<help>;
def version : LongFlag<"version", "print the version">;

def mode : LongValue<"mode", "auto|hugetlb|thp|none",
    "which large pages: of the pool, transparent ones, none; auto\n"
    "(default) takes the pool while it lasts, then the others">;
def policy : LongValue<"policy", "BSS:STACK:MMAP",
    "page in at the start (prepage) or at the first touch\n"
    "(demand), for each of the three">;
def children : LongFlag<"children",
    "large pages for the programs that the program starts, too">;
def hpc_tags : LongValue<"hpc-tags", "on|off",
    "A64FX: switch the HPC tag override on or off for the run;\n"
    "acts on all cores of the job">;

def report : LongFlag<"report",
    "print on standard error what was on large pages at the end">;
def report_json : LongValue<"report", "json:FILE",
    "the same as JSON; %h, %r, %p in FILE are host, rank, pid">;
def compare_modes : LongValue<"compare", "MODE,MODE...",
    "run the program in turn in these modes and say whether large\n"
    "pages make it faster: none, thp, hugetlb, interleave, auto;\n"
    "the others are compared with the first one">;
def compare : LongFlag<"compare",
    "the same as --compare=none,thp,hugetlb">;
def repeat : LongValue<"repeat", "N",
    "rounds of --compare that count (default 7)">;
def seed : LongValue<"seed", "N",
    "of the order in which --compare runs the modes">;
def json : LongValue<"json", "FILE",
    "what --compare found as JSON">;
def verify : LongFlag<"verify",
    "end with status 124 if data or stacks were not on large\n"
    "pages although the program ended with 0">;
def quiet : LongFlag<"quiet",
    "print errors only (MPG_QUIET=1); also -q">;
def q : Flag<["-"], "q">, Alias<quiet>;
def print_env : LongFlag<"print-env",
    "print all settings of libmpg as it understood them">;
def dry_run : LongFlag<"dry-run",
    "print what would be run, and run nothing">;
