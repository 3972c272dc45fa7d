#!/usr/bin/env python3
"""The table of docs/features.md, from what the conformance suite's tests did.

  tools/bazel test //tests/conformance/... ; tests/docs/features.py bazel-testlogs docs/features.md

A row is a test of tests/conformance, a column a backend. "yes": it passed there. "no": it passed, and shows that what
the backend lacks (tests/conformance/features.cc) is a typed Unimplemented.
"""

import glob
import re
import sys
import xml.etree.ElementTree

HEAD = """# What works on which backend

Each line is a test that is written once and run on every backend ([tests/conformance](../tests/conformance)); `yes` means
that it passed there, `no` that the backend lacks it and says so with a typed `Unimplemented`. This page is made by
[tests/docs/features.py](../tests/docs/features.py) from the results of such a run, and a test checks that it has every case
and every backend of the suite, and says "no" where the suite does.

"""


def words(name):
    """"KillsDoubleForkedDaemons" as a sentence."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return text[0] + re.sub(r"\b[A-Z](?=[a-z])|\bA\b", lambda m: m.group(0).lower(), text[1:])


def cases(folder):
    """[(suite, test)] in the order of the sources."""
    found = []
    for path in sorted(glob.glob(f"{folder}/*_cases.cc")):
        with open(path, encoding="utf-8") as file:
            found += re.findall(r"^TEST_[FP]\((\w+), (\w+)\)", file.read(), re.M)
    return found


def lacking(folder):
    """{(backend, test)} of the tests that are about a feature which the backend lacks."""
    with open(f"{folder}/features.cc", encoding="utf-8") as file:
        missing = re.findall(r'\{"(\w+)", Feature::(\w+),', file.read())
    found = set()
    for path in glob.glob(f"{folder}/*_cases.cc"):
        with open(path, encoding="utf-8") as file:
            for test, body in re.findall(r"^TEST_[FP]\(\w+, (\w+)\) \{(.*?)^\}", file.read(), re.M | re.S):
                found |= {(backend, test) for backend, feature in missing if f"Feature::{feature}" in body}
    return found


def backends(folder):
    with open(f"{folder}/BUILD.bazel", encoding="utf-8") as file:
        return sorted(re.findall(r'backend = "(\w+)"', file.read()))


def results(logs, names):
    """{(backend, test): "yes", "skipped" or "failed"}"""
    found = {}
    for name in names:
        for path in glob.glob(f"{logs}/tests/conformance/{name}_test/**/test.xml", recursive=True):
            for case in xml.etree.ElementTree.parse(path).iter("testcase"):
                test = case.get("name").split("/")[0]
                skipped = case.find("skipped") is not None or case.get("result") == "skipped"
                failed = case.find("failure") is not None or case.find("error") is not None
                found[name, test] = "failed" if failed else "skipped" if skipped else "yes"
    return found


def page(folder, logs):
    names = backends(folder)
    found = results(logs, names)
    for cell in lacking(folder):
        found[cell] = "no" if found.get(cell) == "yes" else found.get(cell, "not run")
    lines = [f"| | {' | '.join(names)} |", "| --- |" + " --- |" * len(names)]
    last = None
    for suite, test in cases(folder):
        if suite != last:
            lines.append(f"| **{words(suite)}** |" + " |" * len(names))
            last = suite
        lines.append(f"| {words(test)} | " + " | ".join(found.get((name, test), "not run") for name in names) + " |")
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write(page("tests/conformance", sys.argv[1]))
