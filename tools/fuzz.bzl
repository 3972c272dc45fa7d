"""Fuzz targets that are also tests.

    load("//tools:fuzz.bzl", "fuzz_test")

    fuzz_test(
        name = "policy_fuzz",
        srcs = ["policy_fuzz.cc"],  # defines LLVMFuzzerTestOneInput
        corpus = glob(["testdata/policy_fuzz/*"]),
        deps = [":policy"],
    )

`tools/bazel test` runs the function over the corpus and some thousands of mutations of it that are the same each time,
in any configuration. `tools/bazel run --config=fuzz //sandbox:policy_fuzz -- -max_total_time=600 NEW_CORPUS_DIR` lets
libFuzzer look for more; `tools/bazel test --config=fuzz --build_tests_only --test_tag_filters=fuzz //...` lets it for a
minute each, each time from the same seed: what it finds belongs to the change.
"""

load("@rules_cc//cc:cc_test.bzl", "cc_test")

def fuzz_test(name, srcs, deps = [], corpus = [], tags = [], **kwargs):
    """A fuzz target as a test.

    Args:
      name: of the test; `something_fuzz` by custom.
      srcs: sources, one of which defines LLVMFuzzerTestOneInput.
      deps: as in cc_test.
      corpus: files, one input each.
      tags: besides "fuzz".
      **kwargs: handed to cc_test.
    """
    paths = ["$(rootpath %s)" % file for file in corpus]
    seeds = ["-seed_inputs=" + ",".join(paths)] if paths else []
    cc_test(
        name = name,
        srcs = srcs,
        args = select({
            "//tools/fuzz:libfuzzer": seeds + ["-max_total_time=60", "-seed=1"],
            "//conditions:default": paths,
        }),
        data = corpus,
        timeout = "moderate",
        tags = tags + ["fuzz"],
        linkopts = select({
            "//tools/fuzz:libfuzzer": ["-fsanitize=fuzzer"],
            "//conditions:default": [],
        }),
        deps = deps + select({
            "//tools/fuzz:libfuzzer": [],
            "//conditions:default": ["//tools/fuzz:regression_main"],
        }),
        **kwargs
    )
