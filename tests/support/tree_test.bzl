"""Tests that run once for each way of holding a tree of processes, and on more than one backend."""

load("@rules_cc//cc:cc_library.bzl", "cc_library")
load("@rules_cc//cc:cc_test.bzl", "cc_test")

def _test(name, cases, main, user = "root", backend = "", env = {}, tags = [], **kwargs):
    more = {"BERTH_TEST_BACKEND": backend} if backend else {}
    cc_test(
        name = name,
        env = dict(env, BERTH_TEST_USER = user, **more),
        tags = ["no-sandbox"] + tags,
        deps = [cases, main],
        **kwargs
    )

def tree_test(name, srcs, deps, tmux = False, tmux_size = "medium", local_defines = [], **kwargs):
    """Makes NAME, where trees are held by cgroups (if root runs it), and NAME_plain_user, by a subreaper.

    Args:
      name: ends with _test.
      srcs: tests on TreeTest; no main.
      deps: of srcs.
      tmux: makes NAME_tmux and NAME_tmux_plain_user too, of sessions on that backend.
      tmux_size: of those.
      local_defines: of srcs.
      **kwargs: for all tests. Of data, those in env BERTH_TEST_DATA are there for a plain user, too.
    """
    main = "//tests/support:world_main"
    cc_library(
        name = name + "_cases",
        testonly = True,
        srcs = srcs,
        alwayslink = True,
        local_defines = local_defines,
        deps = deps,
    )
    for suffix, user in [("", "root"), ("_plain_user", "plain")]:
        _test(name + suffix, name + "_cases", main, user, **kwargs)
        if tmux:
            _test(name + "_tmux" + suffix, name + "_cases", main, user, "tmux", **dict(kwargs, size = tmux_size))

def session_test(name, srcs, deps, tmux = None, **kwargs):
    """Makes NAME, of sessions on the native backend, and perhaps NAME_tmux.

    Args:
      name: ends with _test.
      srcs: tests on RuntimeTest; no main.
      deps: of srcs.
      tmux: which of the tests NAME_tmux has, as --gtest_filter takes it; None: there is no such test.
      **kwargs: for both.
    """
    main = "@googletest//:gtest_main"
    cc_library(
        name = name + "_cases",
        testonly = True,
        srcs = srcs,
        alwayslink = True,
        deps = deps,
    )
    _test(name, name + "_cases", main, **kwargs)
    if tmux:
        _test(name + "_tmux", name + "_cases", main, backend = "tmux", args = ["--gtest_filter=" + tmux], **kwargs)
