#!/usr/bin/env python3
"""lcov.py adds up hits of a line from several tests, and leaves out filtered sources."""

import gzip
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import lcov


class Lcov(unittest.TestCase):
    def test_merges_gcov_and_then_reports(self):
        document = {"files": [
            {"file": name, "functions": [{"name": "f", "start_line": 1, "execution_count": 2}],
             "lines": [{"line_number": 1, "count": 2}, {"line_number": 2, "count": 0}]}
            for name in ("a.cc", "external/b.h", "/usr/include/x.h")]}
        with tempfile.TemporaryDirectory() as folder:
            with gzip.open(os.path.join(folder, "a.gcov.json.gz"), "wt") as file:
                json.dump(document, file)
            one, both, reports = (os.path.join(folder, name) for name in ("one", "both", "reports"))
            lcov.main([f"--coverage_dir={folder}", f"--output_file={one}", "--filter_sources=/usr/include.+"])
            with open(reports, "w") as file:
                file.write(f"{one}\n{one}\n")
            lcov.main([f"--reports_file={reports}", f"--output_file={both}"])
            with open(both) as file:
                self.assertEqual(file.read(),
                                 "SF:a.cc\nFN:1,f\nFNDA:4,f\nDA:1,4\nDA:2,0\nLH:1\nLF:2\nend_of_record\n")


if __name__ == "__main__":
    unittest.main()
