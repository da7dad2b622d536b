// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of mpginfo: parsing, --help and "did you mean" are made from this
// file.

include "llvm/Option/OptParser.td"

class LongFlag<string name, string help>
    : Flag<["--"], name>, HelpText<help>;
class LongValue<string name, string metavar, string help>
    : Joined<["--"], name # "=">, MetaVarName<metavar>, HelpText<help>;

def help : LongFlag<"help", "print this text">;
def h : Flag<["-"], "h">, Alias<help>;
def version : LongFlag<"version", "print the version">;

def need : LongValue<"need", "SIZE",
    "end with status 1 unless a program can have SIZE on 2 MiB\n"
    "pages of the pool, and say what to type for it">;
def json : LongFlag<"json", "print JSON, schema mpginfo-1">;
def root : LongValue<"root", "DIRECTORY",
    "look at proc, sys, dev and opt in DIRECTORY, a copy from\n"
    "another node, and try nothing on this one">;
