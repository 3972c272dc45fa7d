"""Tests of one file with GoogleTest.

    load("//tools:test.bzl", "berth_test")

    berth_test(
        name = "decide_test",
        deps = [":decide"],
    )
"""

load("@rules_cc//cc:cc_test.bzl", "cc_test")

_GOOGLETEST = [
    "@googletest//:gtest",
    "@googletest//:gtest_main",
]

def berth_test(name, srcs = None, deps = [], size = "small", **kwargs):
    """A cc_test with GoogleTest and its main.

    Args:
      name: of the test.
      srcs: NAME.cc if not given.
      deps: of srcs, besides GoogleTest.
      size: how long it may take.
      **kwargs: handed to cc_test (tags, data, env, ...).
    """
    cc_test(
        name = name,
        size = size,
        srcs = [name + ".cc"] if srcs == None else srcs,
        deps = deps + _GOOGLETEST,
        **kwargs
    )
