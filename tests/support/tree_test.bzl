"""Tests that run once for each way of holding a tree of processes."""

load("@rules_cc//cc:cc_library.bzl", "cc_library")
load("@rules_cc//cc:cc_test.bzl", "cc_test")

def tree_test(name, srcs, deps, tags = [], **kwargs):
    """Makes NAME, where trees are held by cgroups (if root runs it), and NAME_plain_user, by a subreaper.

    Args:
      name: ends with _test.
      srcs: tests on TreeTest; no main.
      deps: of srcs.
      tags: of both tests, besides "no-sandbox".
      **kwargs: for both tests.
    """
    cc_library(
        name = name + "_cases",
        testonly = True,
        srcs = srcs,
        alwayslink = True,
        deps = deps,
    )
    for suffix, user in [("", "root"), ("_plain_user", "plain")]:
        cc_test(
            name = name + suffix,
            env = {"BERTH_TEST_USER": user},
            tags = ["no-sandbox"] + tags,
            deps = [
                ":" + name + "_cases",
                "//tests/support:world_main",
            ],
            **kwargs
        )
