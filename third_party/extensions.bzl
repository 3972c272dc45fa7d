"""The libraries that the Bazel Central Registry lacks, as repositories."""

load(":system_library.bzl", "system_library")

def _system_libraries_impl(_ctx):
    system_library(
        name = "libseccomp",
        target = "libseccomp",
        archive = "libseccomp.a",
        headers = ["seccomp.h", "seccomp-syscalls.h"],
        pkg_config = "libseccomp",
        # Older ones can weaken filters: GHSA-4q85-33p6-j5g6.
        min_version = "2.6.1",
        debian = "libseccomp-dev",
    )
    system_library(
        name = "libvterm",
        target = "libvterm",
        archive = "libvterm.a",
        headers = ["vterm.h", "vterm_keycodes.h"],
        pkg_config = "vterm",
        min_version = "0.3",
        debian = "libvterm-dev",
    )
    system_library(
        name = "libcgroup",
        target = "libcgroup",
        archive = "libcgroup.a",
        headers = ["libcgroup.h", "libcgroup"],
        pkg_config = "libcgroup",
        min_version = "2.0",
        debian = "libcgroup-dev",
        # An unpacked source tree, where there is one: the distribution's static archive needs libsystemd.
        source_env = "BERTH_LIBCGROUP_SOURCE",
        source_build_file = "//third_party:libcgroup.BUILD",
    )

system_libraries = module_extension(implementation = _system_libraries_impl)
