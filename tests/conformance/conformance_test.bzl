"""The conformance suite, for one backend."""

load("@rules_cc//cc:cc_library.bzl", "cc_library")
load("@rules_cc//cc:cc_test.bzl", "cc_test")

def conformance_test(backend, engine, deps = [], plain_user = False, **kwargs):
    """Makes BACKEND_test from its engine and all cases.

    Args:
      backend: its name.
      engine: the source that defines MakeEngine.
      deps: of the engine, besides the suite's own.
      plain_user: makes BACKEND_plain_user_test too, which gives up root's rights if root runs it.
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
    if plain_user:
        cc_test(
            name = backend + "_plain_user_test",
            env = {"BERTH_TEST_USER": "plain"},
            tags = ["no-sandbox"],
            deps = [
                ":cases",
                ":" + backend + "_engine",
                "//tests/support:world_main",
            ],
            **kwargs
        )
