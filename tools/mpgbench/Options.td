// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of mpgbench; see OptionClasses.td.

include "OptionClasses.td"

def quick : LongFlag<"quick",
    "small arrays: all experiments together take about\n"
    "two minutes">,
    Manual<[{Small arrays: all experiments together take about two minutes. Effects that
need more memory than the TLBs and caches reach are smaller then. On slow machines
and on those of many NUMA nodes no round is begun that would end after five minutes, but
for the first, and a line tells it.}]>;
def repeat : LongValue<"repeat", "N",
    "measure each point N times, 7 if not given; below 6 there are\n"
    "no intervals and no verdicts">,
    Manual<[{Measure each point N times, 7 if not given, 1,000 at most. Below 6 there is
no interval of 95 %, and no verdict.}]>;
def seed : LongValue<"seed", "N", "of the random order; 1 if not given">,
    Manual<[{Of the random order of the points, 1 if not given. The report has it.}]>;

def json : LongValue<"json", "FILE",
    "also write everything as JSON, schema mpgbench-1; - is\n"
    "standard output, and the report goes to standard error">,
    Manual<[{Also write everything, each measurement included, as JSON, schema mpgbench-1
(`docs/schema/mpgbench-1.schema.json`).}]>;
def csv : LongValue<"csv", "FILE", "also write each measurement as CSV">,
    Manual<[{Also write one line for each measurement.}]>;
def html : LongValue<"html", "FILE",
    "also write a page with plots; needs no network">,
    Manual<[{Also write a page with plots, which needs no network and no scripts.}]>;

def compare : LongFlag<"compare",
    "compare two files written by --json: which differences are\n"
    "real; status 1 if something became worse">,
    Manual<[{Compare two files that `--json` wrote: ratio and interval of each point that
both have, and which differences are real.}]>;
