# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# For perl: big hashes and arrays that grow and shrink, strings that grow at both
# ends, sorting, expressions, closures, children by fork and by pipes.
use strict;
use warnings;

my $seed = 42;
sub random { $seed = ($seed * 1103515245 + 12345) & 0x7fffffff; return $seed % $_[0]; }

my (%count, @words);
push @words, join '', map { chr(97 + random(26)) } 1 .. 2 + random(9) for 1 .. 60000;
$count{substr $_, 0, 3}++ for @words;
my @most = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
print scalar(@most), " $most[0] $most[1] $most[-1]\n";
my @sorted = sort { length $a <=> length $b || $a cmp $b } @words;
print "$sorted[0] $sorted[-1]\n";
my %nested;
$nested{length $_}{$_}{seen} = [1 .. length $_] for @words;
delete $nested{$_} for grep { $_ % 2 } keys %nested;
print join(' ', map { scalar keys %{$nested{$_}} } sort { $a <=> $b } keys %nested), "\n";

my $text = '';
$text = $_ % 3 ? "$text$words[$_]," : "$words[$_],$text" for 1 .. 5000;
my $changed = $text;
print length $text, ' ', ($changed =~ s/([aeiou])([^aeiou,])/<$2$1>/g), "\n";
splice @words, random(scalar @words), 1 for 1 .. 2000;
my @counters = map { my $n = $_; sub { return $n += shift } } 1 .. 10000;
my $sum = 0;
$sum += $_->(5) for @counters;
print scalar(@words), " $sum\n";

my %child;
for my $number (1 .. 5) {
  my $pid = fork;
  if (!$pid) {
    my %own = map { $_ => "$number $_" } @words[0 .. 20000];
    undef %count;
    exit(keys(%own) == keys %{{map { $_ => 1 } @words[0 .. 20000]}} ? $number : 99);
  }
  $child{$pid} = $number;
}
my $right = 0;
while ((my $pid = wait) > 0) { $right++ if $? >> 8 == $child{$pid}; }
print "children $right\n";
print `printf 'c\\nb\\na\\n' | sort`;
warn "on standard error\n";
exit 3;
