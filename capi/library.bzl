"""The C ABI and everything that it needs, as one object in one archive."""

load("@rules_cc//cc:action_names.bzl", "ACTION_NAMES")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//tools:static_binary.bzl", "SANITIZERS")

def unsanitized(values):
    """`values` but with a sanitizer, which gets none."""
    return select({"//tools:" + name: [] for name in SANITIZERS} | {"//conditions:default": values})

def _merged_archive_impl(ctx):
    toolchain = find_cc_toolchain(ctx)
    features = cc_common.configure_features(ctx = ctx, cc_toolchain = toolchain)
    linker = cc_common.get_tool_for_action(
        feature_configuration = features,
        action_name = ACTION_NAMES.cpp_link_executable,
    )
    archives = []
    whole = []
    flags = []
    for linker_input in ctx.attr.library[CcInfo].linking_context.linker_inputs.to_list():
        for library in linker_input.libraries:
            archive = library.pic_static_library or library.static_library
            if linker_input.owner == ctx.attr.library.label or library.alwayslink:
                whole.append(archive)
            else:
                archives.append(archive)

        # Archives of the system, such as -l:libssl.a; what is left (-pthread) is for who links the result.
        flags += [flag for flag in linker_input.user_link_flags if flag.startswith("-l:") and flag.endswith(".a")]
    args = ctx.actions.args()
    args.add_all([linker, toolchain.nm_executable, toolchain.objcopy_executable, toolchain.ar_executable])
    args.add_all([ctx.outputs.out, "--whole"])
    args.add_all(whole)
    args.add("--archives")
    args.add_all(archives)
    args.add_all(flags)
    ctx.actions.run(
        executable = ctx.executable._merge,
        arguments = [args],
        inputs = depset(whole + archives, transitive = [toolchain.all_files]),
        outputs = [ctx.outputs.out],
        mnemonic = "BerthArchive",
        progress_message = "Merging %{output}",
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([ctx.outputs.out]))]

def _public_headers_impl(ctx):
    headers = [
        header
        for dep in ctx.attr.deps
        for header in dep[CcInfo].compilation_context.direct_public_headers
        if header.basename not in ctx.attr.exclude
    ]
    return [DefaultInfo(files = depset(headers))]

# The headers of libraries, for a test that reads them.
public_headers = rule(
    implementation = _public_headers_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo], mandatory = True),
        "exclude": attr.string_list(),
    },
)

# `library` and all that it depends on, with no symbols but berth_*.
merged_archive = rule(
    implementation = _merged_archive_impl,
    attrs = {
        "library": attr.label(providers = [CcInfo], mandatory = True),
        "out": attr.output(mandatory = True),
        "_merge": attr.label(default = "//capi:merge", executable = True, cfg = "exec"),
    },
    fragments = ["cpp"],
    toolchains = use_cc_toolchain(),
)
