#!/usr/bin/env python3
"""Tests of the table's making, on results that are written here."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import table  # pylint: disable=wrong-import-position

ROOT = ["1", "type", "namespaces", "root", "stopped", ""]


class TableTest(unittest.TestCase):

    def test_one_that_all_stopped_is_one_word(self):
        rows = [ROOT, ["1", "type", "namespaces", "plain", "stopped", ""]]
        self.assertEqual(table.render(rows)[2], "| 1 | type | stopped | does not apply | does not apply |")

    def test_users_that_differ_are_both_named(self):
        rows = [ROOT, ["1", "type", "namespaces", "plain", "not stopped", "why"]]
        self.assertIn("root: stopped; plain: **not stopped**: why", table.render(rows)[2])

    def test_the_worse_of_two_results_counts_in_either_order(self):
        worse = ["1", "type", "namespaces", "root", "not stopped", "why"]
        for rows in ([ROOT, worse], [worse, ROOT]):
            self.assertIn("**not stopped**: why", table.render(rows)[2])

    def test_rows_are_sorted_by_number(self):
        lines = table.render([["10", "b", *ROOT[2:]], ["9", "a", *ROOT[2:]]])
        self.assertTrue(lines[2].startswith("| 9 |"))

    def test_a_document_keeps_what_is_around_the_table(self):
        text = f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n"
        self.assertEqual(table.replace(text, ["new"]), f"before\n{table.BEGIN}\nnew\n{table.END}\nafter\n")
        self.assertIsNone(table.replace("no table", ["new"]))


if __name__ == "__main__":
    unittest.main()
