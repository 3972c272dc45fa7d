#!/usr/bin/env python3
"""Merges coverage to one lcov file, called by `bazel coverage` in two ways.

  lcov --coverage_dir=DIR --output_file=FILE [--filter_sources=REGEX]...    after a test: what gcov wrote below DIR
  lcov --reports_file=LIST --output_file=FILE                               at the end: the lcov files named in LIST

Sources of other modules (external/) are left out.
"""

import argparse
import collections
import gzip
import json
import os
import re
import sys


class Coverage:
    """Hits of lines and functions, by source file."""

    def __init__(self):
        self.lines = collections.defaultdict(collections.Counter)
        self.functions = collections.defaultdict(dict)  # file -> name -> [first line, hits]

    def add_function(self, source, name, line, hits):
        self.functions[source].setdefault(name, [line, 0])[1] += hits

    def add_gcov(self, path):
        with gzip.open(path, "rt") as file:
            document = json.load(file)
        for entry in document["files"]:
            for function in entry["functions"]:
                self.add_function(entry["file"], function["name"], function["start_line"], function["execution_count"])
            for line in entry["lines"]:
                self.lines[entry["file"]][line["line_number"]] += line["count"]

    def add_lcov(self, path):
        source, first_lines = "", {}
        with open(path) as file:
            for record in file:
                kind, _, value = record.strip().partition(":")
                if kind == "SF":
                    source, first_lines = value, {}
                elif kind == "DA":
                    line, hits = value.split(",")[:2]
                    self.lines[source][int(line)] += int(hits)
                elif kind == "FN":
                    line, name = value.split(",", 1)
                    first_lines[name] = int(line)
                elif kind == "FNDA":
                    hits, name = value.split(",", 1)
                    self.add_function(source, name, first_lines.get(name, 0), int(hits))

    def write(self, file, excluded):
        for source in sorted(self.lines):
            if any(re.fullmatch(pattern, source) for pattern in excluded):
                continue
            file.write(f"SF:{source}\n")
            for name, (line, _) in sorted(self.functions[source].items()):
                file.write(f"FN:{line},{name}\n")
            for name, (_, hits) in sorted(self.functions[source].items()):
                file.write(f"FNDA:{hits},{name}\n")
            for line, hits in sorted(self.lines[source].items()):
                file.write(f"DA:{line},{hits}\n")
            file.write(f"LH:{sum(1 for hits in self.lines[source].values() if hits)}\nLF:{len(self.lines[source])}\n")
            file.write("end_of_record\n")


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--coverage_dir")
    parser.add_argument("--reports_file")
    parser.add_argument("--output_file", required=True)
    parser.add_argument("--filter_sources", action="append", default=[])
    options, _ = parser.parse_known_args(arguments)
    coverage = Coverage()
    if options.coverage_dir:
        for folder, _, names in os.walk(options.coverage_dir):
            for name in sorted(names):
                if name.endswith(".gcov.json.gz"):
                    coverage.add_gcov(os.path.join(folder, name))
                elif name.endswith(".dat"):
                    coverage.add_lcov(os.path.join(folder, name))
    if options.reports_file:
        with open(options.reports_file) as reports:
            for report in reports.read().split():
                if os.path.getsize(report):
                    coverage.add_lcov(report)
    with open(options.output_file, "w") as file:
        coverage.write(file, options.filter_sources + ["external/.+"])


if __name__ == "__main__":
    main(sys.argv[1:])
