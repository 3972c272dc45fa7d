#!/usr/bin/env python3
"""Counts test cases from Bazel's own record of a run, and compares the skipped ones with those expected.

  tools/bazel test //... --build_event_json_file=EVENTS
  tools/bazel run //tools/checks:results -- EVENTS EXPECTED_SKIPS

Cases come from the test.xml of each target, shard and last attempt, cached ones too. A target that has none counts as
one case, and one that was not built or ended badly without a failed case counts as one failed. EXPECTED_SKIPS has
`Suite.Case reason` lines. The last line printed is `N passed, N failed, N skipped`.
"""

import json
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree


class Results:
    def __init__(self):
        self.passed = 0
        self.failed = []
        self.skipped = {}


def read_cases(results, path, status, target):
    """Adds the cases of one test.xml; status is Bazel's word for the whole of it."""
    failed_before, found = len(results.failed), 0
    try:
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError):
        cases = []
    for case in cases:
        # googletest's classname is the suite; what Bazel itself writes for other tests has none.
        suite = case.get("classname")
        name = f"{suite}.{case.get('name')}" if suite else target
        if case.get("status") == "notrun" and case.get("result") != "skipped":
            continue  # disabled, or another shard's
        found += 1
        skip = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            results.failed.append(f"{name} ({target})")
        elif skip is not None or case.get("result") == "skipped":
            results.skipped[name] = ((skip.get("message") if skip is not None else "") or "").strip()
        else:
            results.passed += 1
    if status != "PASSED" and len(results.failed) == failed_before:
        results.failed.append(f"{target}: {status}")
    elif status == "PASSED" and not found:
        results.passed += 1


def collect(event_lines):
    """Returns the Results of a Bazel run, given its build events as lines of JSON."""
    results, runs, tests, reported = Results(), {}, set(), set()
    for line in event_lines:
        event = json.loads(line)
        event_id = event.get("id", {})
        if "testResult" in event_id and "testResult" in event:
            key = event_id["testResult"]
            attempt = (key["label"], key.get("run", 1), key.get("shard", 1))
            if key.get("attempt", 1) >= runs.get(attempt, (0,))[0]:
                files = {f["name"]: f.get("uri", "") for f in event["testResult"].get("testActionOutput", [])}
                path = urllib.parse.unquote(urllib.parse.urlparse(files.get("test.xml", "")).path)
                runs[attempt] = (key.get("attempt", 1), path, event["testResult"].get("status", "NO_STATUS"))
        elif "targetConfigured" in event_id and event.get("configured", {}).get("testSize"):
            tests.add(event_id["targetConfigured"]["label"])
        elif "pattern" in event_id and "aborted" in event:
            results.failed.append("the pattern " + " ".join(event_id["pattern"].get("pattern", [])))
    for (label, _, _), (_, path, status) in sorted(runs.items()):
        reported.add(label)
        read_cases(results, path, "PASSED" if status == "FLAKY" else status, label)
    results.failed.extend(f"{label}: not built or not run" for label in sorted(tests - reported))
    return results


def expected_skips(lines):
    entries = [line.strip().split(None, 1) for line in lines if line.strip() and not line.startswith("#")]
    return {entry[0]: entry[1] if len(entry) > 1 else "" for entry in entries}


def main(events, expected):
    with open(events) as file:
        results = collect(file)
    with open(expected) as file:
        wanted = expected_skips(file)
    for failure in results.failed:
        print(f"FAILED  {failure}")
    for name, reason in sorted(results.skipped.items()):
        print(f"skipped {name}: {reason}")
    unexpected = sorted(set(results.skipped) - set(wanted))
    not_skipped = sorted(set(wanted) - set(results.skipped))
    for name in unexpected:
        print(f"NOT EXPECTED to be skipped: {name}")
    for name in not_skipped:
        print(f"EXPECTED to be skipped, but was not: {name} ({wanted[name]})")
    print(f"{results.passed} passed, {len(results.failed)} failed, {len(results.skipped)} skipped")
    bad = results.failed or unexpected or not_skipped or not results.passed
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
