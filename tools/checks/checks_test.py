#!/usr/bin/env python3
"""The checks find what they look for: each case is a small tree, or a small record of a run, with one thing wrong."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__))))
import results
import tree

GOOD = 'package(default_visibility = ["//visibility:private"])\n\ncc_library(name = "a", srcs = ["a.cc"])\n'


class Tree(unittest.TestCase):
    def problems(self, files):
        with tempfile.TemporaryDirectory() as root:
            subprocess.run(["git", "init", "-q", root], check=True)
            for name, text in files.items():
                os.makedirs(os.path.join(root, os.path.dirname(name)), exist_ok=True)
                with open(os.path.join(root, name), "w") as file:
                    file.write(text)
            return tree.check(root)

    def test_a_good_tree_passes(self):
        self.assertEqual(self.problems({"x/BUILD.bazel": GOOD, "x/a.cc": "int a;\n"}), [])

    def test_a_source_without_build_file(self):
        self.assertIn("x/a.cc: neither", self.problems({"x/a.cc": ""})[0])

    def test_a_source_that_no_target_names(self):
        self.assertEqual(self.problems({"x/BUILD.bazel": GOOD, "x/a.cc": "", "x/b.cc": ""}),
                         ["x/BUILD.bazel: does not name b.cc"])

    def test_public_by_default(self):
        self.assertIn("lacks default_visibility", self.problems({"x/BUILD.bazel": 'exports_files(["y"])\n'})[0])

    def test_sources_listed_by_their_targets(self):
        listed = GOOD + '[cc_test(name = name, srcs = [name + ".cc"]) for name in ["b_test"]]\n'
        self.assertEqual(self.problems({"x/BUILD.bazel": listed, "x/a.cc": "", "x/b_test.cc": ""}), [])
        self.assertIn("does not name", self.problems({"x/BUILD.bazel": listed, "x/a.cc": "", "x/c_test.cc": ""})[0])

    def test_unsorted_deps(self):
        deps = 'cc_test(\n    deps = [\n        "//b",\n        ":a",\n    ],\n)\n'
        self.assertIn("not sorted", self.problems({"x/BUILD.bazel": GOOD + deps, "x/a.cc": ""})[0])

    def test_gtest_that_only_gtest_main_brings(self):
        deps = 'cc_test(\n    deps = [\n        "@googletest//:gtest_main",\n    ],\n)\n'
        self.assertIn("without gtest", self.problems({"x/BUILD.bazel": GOOD + deps, "x/a.cc": ""})[0])

    def test_host_names_and_machine_paths(self):
        text = "deb." + "debian.org\n/wo" + "rk/main\nfoo/wo" + "rk/bar\n"
        self.assertEqual([p.split(":")[1] for p in self.problems({"README.md": text})], ["1", "2"])

    def test_a_long_file(self):
        self.assertIn("601 lines", self.problems({"README.md": "\n" * 601})[0])


class Results(unittest.TestCase):
    def collect(self, *tests):
        """tests: (label, status, xml or None), one result each; None for the status: configured but never run."""
        with tempfile.TemporaryDirectory() as folder:
            lines = []
            for number, (label, status, xml) in enumerate(tests):
                lines.append(json.dumps({"id": {"targetConfigured": {"label": label}}, "configured": {"testSize": "SMALL"}}))
                path = os.path.join(folder, f"{number}.xml")
                if xml is not None:
                    with open(path, "w") as file:
                        file.write(xml)
                if status:
                    lines.append(json.dumps({
                        "id": {"testResult": {"label": label, "run": 1, "shard": number, "attempt": 1}},
                        "testResult": {"status": status, "testActionOutput": [{"name": "test.xml", "uri": "file://" + path}]},
                    }))
            return results.collect(lines)

    def numbers(self, *tests):
        found = self.collect(*tests)
        return found.passed, len(found.failed), len(found.skipped)

    def test_cases_of_all_shards_count(self):
        one = '<testsuites><testsuite><testcase classname="A" name="b" status="run"/></testsuite></testsuites>'
        self.assertEqual(self.numbers(("//:t", "PASSED", one), ("//:t", "PASSED", one)), (2, 0, 0))

    def test_skipped_failed_and_disabled_cases(self):
        xml = ('<testsuites><testcase classname="A" name="s" status="run" result="skipped"><skipped message="why"/></testcase>'
               '<testcase classname="A" name="f"><failure/></testcase><testcase classname="A" name="d" status="notrun"/>'
               "</testsuites>")
        found = self.collect(("//:t", "FAILED", xml))
        self.assertEqual((found.passed, found.failed, found.skipped), (0, ["A.f (//:t)"], {"A.s": "why"}))

    def test_a_crash_after_the_last_case_is_a_failure(self):
        xml = '<testsuites><testcase classname="A" name="b"/></testsuites>'
        self.assertEqual(self.numbers(("//:t", "FAILED", xml)), (1, 1, 0))

    def test_a_target_without_cases_is_one(self):
        self.assertEqual(self.numbers(("//:t", "PASSED", None)), (1, 0, 0))

    def test_a_target_that_was_not_built_is_a_failure(self):
        self.assertEqual(self.numbers(("//:t", None, None)), (0, 1, 0))


if __name__ == "__main__":
    unittest.main()
