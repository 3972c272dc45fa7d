#!/usr/bin/env python3
"""Checks docs/seeds.md: each row names a call that a header or the command line has, and a test that there is.

  | `operation`, … | `Class::Member`, `Function` or `berth command` | `//package: Suite.Case`, … |
"""

import glob
import os
import re
import sys

# A runfile is a link into the tree.
TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def read(paths):
    return "\n".join(open(path, encoding="utf-8").read() for path in paths)


def files(pattern):
    return sorted(glob.glob(os.path.join(TREE, pattern), recursive=True))


def has_word(word, text):
    return re.search(r"\b%s\b" % re.escape(word), text) is not None


def check_call(call, headers, commands):
    """Says what is missing of one call; "" if nothing is."""
    if call.startswith("berth"):
        program, _, command = call.partition(" ")
        return "" if not command or '"%s"' % command in commands[program] else "no command '%s'" % call
    missing = [word for word in call.split("::") if not any(has_word(word, text) for text in headers)]
    if missing:
        return "no header has '%s'" % missing[0]
    # A member stands in the header of its class.
    whole = re.findall(r"\w+", call)
    if not any(all(has_word(word, text) for word in whole) for text in headers):
        return "no header has all of '%s'" % call
    return ""


def check_test(test):
    match = re.fullmatch(r"//([\w/]+): (\w+)\.(\w+)", test)
    if not match:
        return "'%s' is no //package: Suite.Case" % test
    package, suite, case = match.groups()
    sources = read(files(package + "/*.cc"))
    if re.search(r"\bTEST(_F|_P)?\(\s*%s,\s*%s\)" % (suite, case), sources):
        return ""
    return "there is no test %s.%s in %s" % (suite, case, package)


def check(document, headers, commands):
    """Yields problems, each with its line."""
    seen = {}
    rows = 0
    section = ""
    for number, line in enumerate(document.splitlines(), 1):
        if line.startswith("## "):
            section = line
        if not line.startswith("| `"):
            continue
        rows += 1
        where = "docs/seeds.md:%d: " % number
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) != 3:
            yield where + "not three cells"
            continue
        operations, calls, tests = (re.findall(r"`([^`]+)`", cell) for cell in cells)
        if not calls or not tests:
            yield where + "no call or no test"
        if seen.setdefault((section, cells[0]), number) != number:
            yield where + "the same operations as in line %d" % seen[(section, cells[0])]
        for call in calls:
            problem = check_call(call, headers, commands)
            if problem:
                yield where + problem
        for test in tests:
            problem = check_test(test)
            if problem:
                yield where + problem
    if rows < 60:
        yield "docs/seeds.md: only %d rows were found" % rows


def self_test(headers, commands):
    """A check that finds nothing wrong with anything would be none."""
    for row, wanted in [
            ("| `a` | `Runtime::NoSuchCall` | `//runtime: Choose.AsAsked` |", "no header"),
            ("| `a` | `Environment::SendKeys` | `//runtime: Choose.AsAsked` |", "no header has all"),
            ("| `a` | `berth frobnicate` | `//runtime: Choose.AsAsked` |", "no command"),
            ("| `a` | `Runtime::Choose` | `//runtime: Choose.NoSuchCase` |", "no test"),
            ("| `a` | `Runtime::Choose` | Choose.AsAsked |", "no test"),
    ]:
        if not any(wanted in problem for problem in check(row, headers, commands)):
            yield "the check does not see what is wrong with: " + row


def main():
    headers = [read([path]) for path in files("runtime/**/*.h") + files("sandbox/*.h") + files("reaper/*.h")]
    commands = {"berth": read(files("tools/berth/*.cc")), "berth-reaper": read(files("reaper/cli/*.cc"))}
    problems = list(self_test(headers, commands))
    problems += check(read([os.path.join(TREE, "docs/seeds.md")]), headers, commands)
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
