"""Tests of the C ABI: programs in C, and what is made of it in other languages."""

load("@rules_cc//cc:cc_test.bzl", "cc_test")

_SUPPORT = [
    "//capi:c_test_support.c",
    "//capi:c_test_support.h",
]

def c_test(name, srcs = None, library = ":berth_c"):
    """A C11 program that uses the library as others do.

    Args:
      name: of the test.
      srcs: NAME.c if not given; besides what all of them share.
      library: the static or the shared one.
    """
    cc_test(
        name = name,
        size = "small",
        srcs = ([name + ".c"] if srcs == None else srcs) + _SUPPORT,
        copts = [
            "-std=c11",
            "-pedantic",
        ],
        linkopts = ["-lpthread"],
        tags = ["no-sandbox"],
        deps = [library],
    )

def language_test(name, sources, data):
    """Runs NAME.sh with the shared library, and makes `sources` of what it has in its folder.

    Args:
      name: of the test.
      sources: what is released.
      data: what the test needs besides.
    """
    native.sh_test(
        name = name,
        size = "large",
        srcs = [name + ".sh"],
        args = ["$(rootpath //capi:libberth.so.0)"],
        data = [":sources"] + data + [
            "//capi:headers",
            "//capi:libberth.so.0",
            "//docs:c_abi.md",
        ],
        tags = [
            "no-sandbox",
            "no-sanitizer",
        ],
    )
    native.filegroup(
        name = "sources",
        srcs = sources,
        visibility = [
            "//tests/docs:__pkg__",
            "//tools/dist:__pkg__",
        ],
    )
