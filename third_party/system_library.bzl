"""A repository rule for a C library of the system, found by pkg-config.

The repository has one target of its own name. A static archive is preferred, so that berth's binaries run on
machines that lack the library; headers are symlinked in, so that Bazel sees them change.
"""

_BUILD = """\
load("@rules_cc//cc:cc_library.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])

cc_library(
    name = "{name}",
    srcs = glob(["lib/*.a"], allow_empty = True),
    hdrs = glob(["include/**/*.h"]),
    includes = ["include"],
    linkopts = {linkopts},
)
"""

def _pkg_config(ctx, *args):
    tool = ctx.which("pkg-config") or ctx.which("pkgconf")
    if not tool:
        fail("%s: pkg-config is not on PATH. Install it (Debian: apt-get install pkgconf)." % ctx.attr.pkg_config)
    result = ctx.execute([tool] + list(args) + [ctx.attr.pkg_config])
    return result.stdout.strip() if result.return_code == 0 else None

def _from_source(ctx, source):
    # Its path changes with its content. To watch it would fail once it is gone, before the new path is looked at.
    for entry in ctx.path(source).readdir(watch = "no"):
        ctx.symlink(entry, entry.basename)
    ctx.symlink(ctx.attr.source_build_file, "BUILD.bazel")

def _system_library_impl(ctx):
    source = ctx.os.environ.get(ctx.attr.source_env, "") if ctx.attr.source_env else ""
    if source:
        _from_source(ctx, source)
        return

    version = _pkg_config(ctx, "--modversion")
    if version == None:
        fail("%s is not installed (Debian: apt-get install %s)." % (ctx.attr.pkg_config, ctx.attr.debian))
    if _pkg_config(ctx, "--atleast-version=" + ctx.attr.min_version) == None:
        fail("%s is %s; berth needs %s or newer." % (ctx.attr.pkg_config, version, ctx.attr.min_version))

    # Only the library's own headers, never the whole of /usr/include.
    include = _pkg_config(ctx, "--variable=includedir") or "/usr/include"
    for header in ctx.attr.headers:
        ctx.symlink(include + "/" + header, "include/" + header)

    libdir = _pkg_config(ctx, "--variable=libdir")
    archive = ctx.path(libdir + "/" + ctx.attr.archive)
    if archive.exists:
        ctx.symlink(archive, "lib/" + ctx.attr.archive)
        linkopts = []
    else:
        linkopts = _pkg_config(ctx, "--libs").split(" ")
    ctx.file("BUILD.bazel", _BUILD.format(name = ctx.attr.target, linkopts = linkopts))

system_library = repository_rule(
    implementation = _system_library_impl,
    attrs = {
        "archive": attr.string(mandatory = True, doc = "file name of its static archive"),
        "debian": attr.string(mandatory = True, doc = "the Debian package to name in an error"),
        "headers": attr.string_list(mandatory = True, doc = "its files and folders below includedir"),
        "min_version": attr.string(mandatory = True),
        "pkg_config": attr.string(mandatory = True, doc = "its name to pkg-config"),
        "source_build_file": attr.label(),
        "source_env": attr.string(doc = "environment variable naming an unpacked source tree to build instead"),
        "target": attr.string(mandatory = True, doc = "name of the one target"),
    },
    configure = True,
    environ = ["BERTH_LIBCGROUP_SOURCE", "PKG_CONFIG_PATH"],
)
