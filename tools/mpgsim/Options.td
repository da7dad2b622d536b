// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of mpgsim: parsing, --help and "did you mean" are made from this
// file.

include "OptionClasses.td"

def machine : LongValue<"machine", "NAME|FILE",
    "the machine that is modelled: a64fx (default), zen4,\n"
    "icelake-sp, neoverse-v1, neoverse-v2, or a file.yaml">;
def pages : LongValue<"pages", "SIZE,...",
    "the page sizes to model, as 64K,2M; without it all that the\n"
    "machine has">;
def maps : LongValue<"maps", "N",
    "number of random maps of physical pages, 1 (default) to 8;\n"
    "with more than one, counts that depend on it are intervals">;
def stream : LongValue<"stream", "ARRAY,...",
    "arrays to put into sector 1 of the sector cache, as 'table' or\n"
    "'app.c:12' for a block of the heap; the report then has a table\n"
    "of the ways that sector 1 may get">;
def advise : LongValue<"advise", "FILE",
    "run the program a second time with its large arrays in sector\n"
    "1; if that is worth it, write FILE, which mpg-clang\n"
    "--mpg-hints= takes as it is">;
def json : LongFlag<"json", "print JSON, schema mpgsim-1">;
def csv : LongFlag<"csv", "print CSV: a line for each array and loop with each page size">;
def html : LongValue<"html", "FILE",
    "write the report to FILE as a page for a browser as well">;
def output : LongValue<"output", "FILE",
    "write the report to FILE instead of standard error">;
def record : LongValue<"record", "FILE",
    "write what the program records to FILE as well: large, and\n"
    "for tests of the model">;
