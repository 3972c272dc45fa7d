"""Binaries that are the same in every configuration, and binaries carried inside other ones.

    load("//tools:static_binary.bzl", "embed_binary", "unsanitized_static_binary")

    unsanitized_static_binary(
        name = "launcher",
        srcs = ["main.cc"],
        deps = [":protocol"],
    )

    embed_binary(
        name = "launcher_image",
        binary = ":launcher",
    )
"""

load("@rules_cc//cc:cc_binary.bzl", "cc_binary")
load("@rules_cc//cc:cc_library.bzl", "cc_library")

# Configurations whose runtime cannot be linked statically.
SANITIZERS = [
    "asan",
    "fuzz",
    "tsan",
    "ubsan",
]

# `features` of a binary that runs on any distribution: also on the one that tools/bazel is used on, whose C library is
# older than that of its root.
RUNS_ANYWHERE = select(
    {"//tools:" + name: [] for name in SANITIZERS} | {"//conditions:default": ["fully_static_link"]},
)

# Flags that --config=asan, tsan, fuzz, coverage, opt and so on set, at one fixed value each. The compiler is not
# among them: with --config=gcc, gcc builds the binary too.
_FIXED = {
    "//command_line_option:collect_code_coverage": False,
    "//command_line_option:compilation_mode": "opt",
    # It is copied into memory for each host that uses it: its size is time.
    "//command_line_option:copt": ["-Os"],
    "//command_line_option:features": ["external_include_paths", "layering_check", "-supports_dynamic_linker"],
    "//command_line_option:linkopt": ["-Wno-unused-command-line-argument"],
    "//command_line_option:strip": "always",
}

_fixed_configuration = transition(
    implementation = lambda _settings, _attr: _FIXED,
    inputs = [],
    outputs = _FIXED.keys(),
)

def _fixed_binary_impl(ctx):
    executable = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = executable, target_file = ctx.executable.binary, is_executable = True)
    return [DefaultInfo(
        executable = executable,
        files = depset([executable]),
        runfiles = ctx.runfiles([executable]),
    )]

_fixed_binary = rule(
    implementation = _fixed_binary_impl,
    attrs = {
        "binary": attr.label(mandatory = True, executable = True, cfg = _fixed_configuration),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
    executable = True,
)

def unsanitized_static_binary(name, srcs, deps = [], copts = [], linkopts = [], visibility = None, **kwargs):
    """A static, stripped, optimised binary without exceptions and RTTI, whatever the top-level configuration is.

    A static binary cannot be linked with the runtime of a sanitizer, and code that runs between clone and exec must
    not carry one. So this binary and all of its deps are built apart, in a configuration of their own, where no flag
    of --config=asan, tsan, fuzz or coverage arrives. Code that should be tested under a sanitizer goes to a
    cc_library that both this binary and a cc_test depend on.

    Args:
      name: the binary, usable with `bazel run`, as data, or in embed_binary.
      srcs: as in cc_binary.
      deps: as in cc_binary; built in the fixed configuration too.
      copts: added to -fno-exceptions -fno-rtti.
      linkopts: added to -Wl,-s.
      visibility: of the binary.
      **kwargs: handed to cc_binary (local_defines, testonly, ...).
    """
    cc_binary(
        name = name + "_unconfigured",
        srcs = srcs,
        copts = ["-fno-exceptions"] + copts,
        cxxopts = ["-fno-rtti"],
        features = ["fully_static_link"],
        linkopts = ["-Wl,-s"] + linkopts,
        # Only as an input of the target below: built on its own it would meet the sanitizers again.
        tags = ["manual"],
        visibility = ["//visibility:private"],
        deps = deps + ["//tools:static_start"],
        **kwargs
    )
    _fixed_binary(
        name = name,
        testonly = kwargs.get("testonly", False),
        binary = name + "_unconfigured",
        visibility = visibility,
    )

_ASSEMBLY = """\
    .section .rodata.{symbol}, "a", @progbits
    .balign 64
    .global {symbol}_start, {symbol}_end
    .hidden {symbol}_start, {symbol}_end
    .type {symbol}_start, @object
    .size {symbol}_start, {symbol}_end - {symbol}_start
{symbol}_start:
    .incbin "{path}"
{symbol}_end:
    .byte 0
    .section .note.GNU-stack, "", @progbits
"""

_HEADER = """\
// {label}, carried in read-only data. Made by embed_binary.
#pragma once

#include <cstddef>
#include <string_view>

extern "C" const char {symbol}_start[];
extern "C" const char {symbol}_end[];

namespace berth {{

// The bytes of the file; they live as long as the program.
inline std::string_view {function}() {{
  return {{{symbol}_start, static_cast<std::size_t>({symbol}_end - {symbol}_start)}};
}}

}}  // namespace berth
"""

def _embedded_impl(ctx):
    binary = ctx.file.binary
    values = {
        "function": "".join([word.capitalize() for word in ctx.attr.symbol.split("_")]),
        "label": str(ctx.attr.binary.label).lstrip("@"),
        "path": binary.path,
        "symbol": ctx.attr.symbol,
    }
    template = ctx.actions.declare_file(ctx.attr.symbol + ".S.in")
    ctx.actions.write(template, _ASSEMBLY.format(**values))

    # The assembler reads the binary behind the compiler's back: Bazel takes it for an input that was not used and would
    # not assemble again when it changes. With its hash in the source, it does.
    ctx.actions.run_shell(
        inputs = [template, binary],
        outputs = [ctx.outputs.assembly],
        command = "{ cat \"$1\"; printf '# %s\\n' \"$(sha256sum <\"$2\")\"; } >\"$3\"",
        arguments = [template.path, binary.path, ctx.outputs.assembly.path],
        mnemonic = "EmbedBinary",
    )
    ctx.actions.write(ctx.outputs.header, _HEADER.format(**values))

_embedded = rule(
    implementation = _embedded_impl,
    attrs = {
        "assembly": attr.output(mandatory = True),
        "binary": attr.label(mandatory = True, allow_single_file = True),
        "header": attr.output(mandatory = True),
        "symbol": attr.string(mandatory = True),
    },
)

def embed_binary(name, binary, **kwargs):
    """A cc_library that carries the file `binary` in read-only data.

    Its header is `<package>/<name>.h`. For name = "launcher_image" it declares `launcher_image_start`,
    `launcher_image_end` (extern "C", hidden in shared libraries) and `std::string_view berth::LauncherImage()`.

    Args:
      name: the library, an identifier in snake_case.
      binary: a target with one file.
      **kwargs: handed to cc_library (visibility, testonly, ...).
    """
    _embedded(
        name = name + "_files",
        testonly = kwargs.get("testonly", False),
        assembly = name + ".S",
        binary = binary,
        header = name + ".h",
        symbol = name,
        visibility = ["//visibility:private"],
    )
    cc_library(
        name = name,
        srcs = [name + ".S"],
        hdrs = [name + ".h"],
        # Not included by anyone, but an input of the assembler.
        textual_hdrs = [binary],
        **kwargs
    )
