"""The conformance suite, for one backend."""

load("@rules_cc//cc:cc_library.bzl", "cc_library")
load("@rules_cc//cc:cc_test.bzl", "cc_test")

def conformance_test(backend, engine, deps = [], **kwargs):
    """Makes BACKEND_test from its engine and all cases.

    Args:
      backend: its name.
      engine: the source that defines MakeEngine.
      deps: of the engine, besides the suite's own.
      **kwargs: for the test.
    """
    cc_library(
        name = backend + "_engine",
        testonly = True,
        srcs = [engine],
        alwayslink = True,
        deps = [
            ":engine",
            "//runtime:spec",
            "@abseil-cpp//absl/status",
        ] + deps,
    )
    cc_test(
        name = backend + "_test",
        tags = ["no-sandbox"],
        deps = [
            ":cases",
            ":" + backend + "_engine",
            "@googletest//:gtest_main",
        ],
        **kwargs
    )
