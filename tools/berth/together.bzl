"""Sources that are compiled together.

Every file that handles an absl::Status parses one to two seconds of headers before its own first line, however short it
is. Small files of one target are therefore compiled as one: the files stay what they are, each with its own includes,
and names in their unnamed namespaces must differ.
"""

load("@rules_cc//cc:cc_library.bzl", "cc_library")

# As .bazelrc has them for the sources of this tree: what is made is not where it looks for those.
_WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wnon-virtual-dtor",
    "-Werror",
]

def together(name, srcs, hdrs = [], **kwargs):
    """A cc_library whose .cc files are compiled as one.

    Args:
      name: of the library.
      srcs: the .cc files, and headers of its own.
      hdrs: as for cc_library.
      **kwargs: handed to cc_library.
    """
    sources = [src for src in srcs if src.endswith(".cc")]
    native.genrule(
        name = name + "_together",
        outs = [name + "_together.cc"],
        cmd = "printf '#include \"%s\"\\n' " + " ".join([native.package_name() + "/" + src for src in sources]) + " >$@",
    )
    cc_library(
        name = name,
        srcs = [name + "_together.cc"] + [src for src in srcs if not src.endswith(".cc")],
        hdrs = hdrs,
        copts = _WARNINGS,
        textual_hdrs = sources,
        **kwargs
    )
