//! Finds libberth with pkg-config, or where BERTH_LIB_DIR says.
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=BERTH_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    if let Ok(dir) = std::env::var("BERTH_LIB_DIR") {
        println!("cargo:rustc-link-search=native={dir}");
        println!("cargo:rustc-link-lib=dylib=berth");
        return;
    }
    let output = Command::new("pkg-config").args(["--libs", "berth"]).output();
    match output {
        Ok(found) if found.status.success() => {
            for flag in String::from_utf8_lossy(&found.stdout).split_whitespace() {
                if let Some(dir) = flag.strip_prefix("-L") {
                    println!("cargo:rustc-link-search=native={dir}");
                } else if let Some(library) = flag.strip_prefix("-l") {
                    println!("cargo:rustc-link-lib=dylib={library}");
                }
            }
        }
        _ => panic!("pkg-config does not find berth: install it (tools/bazel run //:install), or set BERTH_LIB_DIR"),
    }
}
