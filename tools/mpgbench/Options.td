// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of mpgbench: parsing, --help and "did you mean" are made from
// this file.

include "llvm/Option/OptParser.td"

class LongFlag<string name, string help>
    : Flag<["--"], name>, HelpText<help>;
class LongValue<string name, string metavar, string help>
    : Joined<["--"], name # "=">, MetaVarName<metavar>, HelpText<help>;

def help : LongFlag<"help", "print this text">;
def h : Flag<["-"], "h">, Alias<help>;
def version : LongFlag<"version", "print the version">;

def quick : LongFlag<"quick",
    "small arrays: all experiments together take about a minute">;
def repeat : LongValue<"repeat", "N",
    "measure each point N times, 7 if not given; below 6 there are\n"
    "no intervals and no verdicts">;
def seed : LongValue<"seed", "N", "of the random order; 1 if not given">;

def json : LongValue<"json", "FILE",
    "also write everything as JSON, schema mpgbench-1; - is\n"
    "standard output, and the report goes to standard error">;
def csv : LongValue<"csv", "FILE", "also write each measurement as CSV">;
def html : LongValue<"html", "FILE",
    "also write a page with plots; needs no network">;

def compare : LongFlag<"compare",
    "compare two files written by --json: which differences are\n"
    "real; status 1 if something became worse">;
