// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of mpg-ocl: parsing, --help and "did you mean" are made from this
// file. Those with one dash are flang's, with the same meaning, so that a
// wrapper hands on what it was given.

include "OptionClasses.td"

class CompilerFlag<string name, string help>
    : Flag<["-"], name>, HelpText<help>;
class CompilerWord<string name, string metavar, string help>
    : JoinedOrSeparate<["-"], name>, MetaVarName<metavar>, HelpText<help>;

def output : CompilerWord<"o", "FILE", "write the hints to FILE">,
    Manual<[{Writes the hints to FILE. Default: standard output.}]>;
def flang : Joined<["--"], "flang=">, MetaVarName<"FILE">, HelpText<
    "take a command line of flang: write the hints to FILE, and\n"
    "ignore what mpg-ocl does not know or cannot read">,
    Manual<[{Takes a command line of flang and writes the hints to FILE. mpg-ocl ignores options
that it does not know and operands that are not Fortran sources.}]>;
def flang_text : Joined<["--"], "flang-text=">, MetaVarName<"FILE">, HelpText<
    "take a command line of flang -E, which wrote FILE: write it with\n"
    "the !OCL lines of the sources">,
    Manual<[{Takes a command line of `flang -E` that wrote FILE, or the file after `-o` if FILE is
empty. Writes that text with the `!OCL` lines of the sources, which flang drops.}]>;
def fixed_form : CompilerFlag<"ffixed-form",
    "the sources have fixed form (default for .f, .for and .fpp)">,
    Manual<[{As in flang. Without either, the suffix of a source decides: `.f`, `.for` and `.fpp`,
also in capitals, have fixed form, all others free form.}]>;
def free_form : CompilerFlag<"ffree-form",
    "the sources have free form (default for the others)">;
def fixed_line_length : Joined<["-"], "ffixed-line-length=">,
    MetaVarName<"N">, HelpText<"columns of fixed form (72; 0 or none: all)">,
    Manual<[{As in flang: the columns of fixed form. The default is 72; 0 or `none` means all.}]>;
def fixed_line_length_dash : Joined<["-"], "ffixed-line-length-">,
    MetaVarName<"N">, Alias<fixed_line_length>;
def no_underscoring : CompilerFlag<"fno-underscoring",
    "the names of external procedures get no final '_'">,
    Manual<[{As in flang: the names of external procedures get no final `_`.}]>;
def cpp : CompilerFlag<"cpp",
    "use -D and -U for all (default for .F, .F90 and so on)">,
    Manual<[{As in flang: `-D`, `-U` and `#if` count in all sources, or in none. Without either
option they count in sources whose suffix begins with a capital letter.}]>;
def nocpp : CompilerFlag<"nocpp", "use -D and -U for none">;
def Rpass : Joined<["-"], "Rpass=">, MetaVarName<"REGEX">, HelpText<
    "if it matches mpg: report directives that become hints">,
    Manual<[{If the regular expression matches `mpg`, prints a remark for each directive that
becomes a hint, or for each that has no effect.}]>;
def Rpass_missed : Joined<["-"], "Rpass-missed=">, MetaVarName<"REGEX">,
    HelpText<"if it matches mpg: report directives without effect">;
def I : CompilerWord<"I", "FOLDER", "search FOLDER for included files">,
    Manual<[{As in flang: searches FOLDER for included files.}]>;
def D : CompilerWord<"D", "NAME[=VALUE]", "define a macro for #if">,
    Manual<[{As in flang: defines or undefines a macro for `#if`.}]>;
def U : CompilerWord<"U", "NAME", "undefine a macro">;

// Of flang, for --flang= and --flang-text= alone.
def O : Joined<["-"], "O">, Flags<[HelpHidden]>;
def E : Flag<["-"], "E">, Flags<[HelpHidden]>;
def P : Flag<["-"], "P">, Flags<[HelpHidden]>;
def x : JoinedOrSeparate<["-"], "x">, Flags<[HelpHidden]>;
def fopenmp : Flag<["-"], "fopenmp">, Flags<[HelpHidden]>;
def fopenmp_simd : Flag<["-"], "fopenmp-simd">, Flags<[HelpHidden]>;
def fno_openmp : Flag<["-"], "fno-openmp">, Flags<[HelpHidden]>;
def fopenmp_version : Joined<["-"], "fopenmp-version=">, Flags<[HelpHidden]>;
def target : Joined<["--"], "target=">, Flags<[HelpHidden]>;
def target_word : Separate<["-"], "target">, Flags<[HelpHidden]>;
