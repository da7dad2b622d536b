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
    Manual<[{Write the hints to FILE. Default: standard output.}]>;
def flang : Joined<["--"], "flang=">, MetaVarName<"FILE">, HelpText<
    "take a command line of flang: write the hints to FILE, and\n"
    "pass over all that is not known here or cannot be read">,
    Manual<[{Take a command line of flang: write the hints to FILE, and pass over options
that are not known here and operands that are no Fortran source.}]>;
def flang_text : Joined<["--"], "flang-text=">, MetaVarName<"FILE">, HelpText<
    "take a command line of flang -E, which wrote FILE: write it with\n"
    "the !OCL lines of the sources">,
    Manual<[{Take a command line of `flang -E` that wrote FILE, or the file after `-o` if FILE
is empty: write that text with the `!OCL` lines of the sources, which flang
drops.}]>;
def fixed_form : CompilerFlag<"ffixed-form",
    "the sources have fixed form (default for .f, .for and .fpp)">,
    Manual<[{As for flang. Where neither is given, the suffix of a source tells its form:
fixed for `.f`, `.for` and `.fpp`, also in capitals, free for the others.}]>;
def free_form : CompilerFlag<"ffree-form",
    "the sources have free form (default for the others)">;
def fixed_line_length : Joined<["-"], "ffixed-line-length=">,
    MetaVarName<"N">, HelpText<"columns of fixed form (72; 0 or none: all)">,
    Manual<[{As for flang: the columns of fixed form, 72 without it; 0 or `none`: all.}]>;
def fixed_line_length_dash : Joined<["-"], "ffixed-line-length-">,
    MetaVarName<"N">, Alias<fixed_line_length>;
def no_underscoring : CompilerFlag<"fno-underscoring",
    "the names of external procedures get no final '_'">,
    Manual<[{As for flang: the names of external procedures get no final `_`.}]>;
def cpp : CompilerFlag<"cpp",
    "use -D and -U for all (default for .F, .F90 and so on)">,
    Manual<[{As for flang: whether `-D`, `-U` and `#if` count, in all sources or in none. Without
either they do in those whose suffix begins with a capital letter.}]>;
def nocpp : CompilerFlag<"nocpp", "use -D and -U for none">;
def Rpass : Joined<["-"], "Rpass=">, MetaVarName<"REGEX">, HelpText<
    "if it fits mpg: say which directives have become hints">,
    Manual<[{If the regular expression fits `mpg`: a remark for each directive that becomes a
hint, and for each that has no effect.}]>;
def Rpass_missed : Joined<["-"], "Rpass-missed=">, MetaVarName<"REGEX">,
    HelpText<"if it fits mpg: say which directives have no effect">;
def I : CompilerWord<"I", "FOLDER", "search FOLDER for included files">,
    Manual<[{As for flang: search this folder for included files.}]>;
def D : CompilerWord<"D", "NAME[=VALUE]", "define a macro for #if">,
    Manual<[{As for flang: define and undefine macros for `#if`.}]>;
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
