"""Reads metrics in Prometheus' text format with its own parser, and prints each family with its
kind and the number of its samples.
"""

import sys

from prometheus_client.parser import text_string_to_metric_families

for family in text_string_to_metric_families(sys.stdin.read()):
    print(family.name, family.type, len(family.samples))
