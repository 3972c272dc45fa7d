"""Libraries of one idea: NAME.cc and NAME.h."""

load("@rules_cc//cc:cc_library.bzl", "cc_library")

def reaper_library(name, **kwargs):
    """A cc_library of two files.

    Args:
      name: of the library and of its files.
      **kwargs: handed to cc_library.
    """
    cc_library(
        name = name,
        srcs = [name + ".cc"],
        hdrs = [name + ".h"],
        **kwargs
    )
