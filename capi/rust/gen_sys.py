"""Makes the declarations of berth-sys from berth.h and its parts.

gen_sys.py --out FOLDER HEADER…    the crate; a test compares it with what is checked in
gen_sys.py --layout c HEADER…      a program that prints the size and the offsets of every structure,
gen_sys.py --layout rust HEADER…   and the same in Rust: a test compares what they print
"""

import os
import re
import sys

TYPES = {
    "int32_t": "i32", "int64_t": "i64", "uint16_t": "u16", "uint32_t": "u32", "uint64_t": "u64",
    "size_t": "usize", "char": "c_char", "double": "f64", "void": "c_void",
}
HEAD = """//! The C interface of berth, as `berth.h` declares it. The header says what each function does; the crate `berth` is the
//! safe way to use it. Made by gen_sys.py: a test compares these files with the header.
#![no_std]
#![allow(non_camel_case_types)]

macro_rules! opaque {
    ($($name:ident)*) => {$(
        #[repr(C)]
        pub struct $name {
            _private: [u8; 0],
        }
    )*};
}

"""
MODULE = """// Made by gen_sys.py from berth/{name}.h.
#[allow(unused_imports)]
use crate::*;
#[allow(unused_imports)]
use core::ffi::{{c_char, c_void}};
"""


def rust_type(text):
    """The Rust spelling of a C type."""
    words = text.replace("*", " * ").split()
    name = next(word for word in words if word not in ("const", "*"))
    if name == "berth_on_pull":  # a pointer to a function, which may be NULL
        return "Option<berth_on_pull>"
    out = TYPES.get(name, name)
    for depth in range(words.count("*")):
        out = ("*const " if "const" in words and depth == 0 else "*mut ") + out
    return out


def arguments(text):
    """(name, type) of each."""
    out = []
    for arg in [] if text.strip() == "void" else text.split(","):
        name = re.search(r"(\w+)$", arg.strip()).group(1)
        out.append((name, rust_type(arg.strip()[: -len(name)])))
    return out


def signature(start, args, result, indent):
    """One line, or one for each argument."""
    tail = ")" + (f" -> {result}" if result else "") + ";"
    line = indent + start + "(" + ", ".join(f"{n}: {t}" for n, t in args) + tail
    if len(line) <= 100:
        return line
    return "\n".join([indent + start + "("] + [f"{indent}    {n}: {t}," for n, t in args] + [indent + tail])


class Header:
    """What the headers declare."""

    def __init__(self, text):
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        self.defines = re.findall(r"#define (BERTH_\w+) \(?(UINT64_C|UINT32_C)?\(?(\d+)\)?(?: << (\d+)\))?", text)
        self.enums = [re.findall(r"(BERTH_\w+)\s*=\s*(\d+)", body) for body in re.findall(r"enum berth_\w+\s*\{(.*?)\}", text, re.S)]
        self.structs = {}
        for name, body in re.findall(r"typedef struct (berth_\w+)\s*\{(.*?)\}", text, re.S):
            self.structs[name] = [self.field(line) for line in body.split(";") if line.strip()]
        self.opaque = sorted(set(re.findall(r"typedef struct (berth_\w+) berth_\w+;", text)))
        self.callbacks = re.findall(r"typedef int32_t \(\*(berth_\w+)\)\(([^)]*)\);", text)
        self.functions = [
            (name, arguments(args), "" if result.strip() == "void" else rust_type(result))
            for result, name, args in re.findall(r"BERTH_API\s+([\w\s*]+?)\b(berth_\w+)\(([^)]*)\);", text)
        ]

    @staticmethod
    def field(line):
        array = re.search(r"\[(\d+)\]$", line.strip())
        line = re.sub(r"\[\d+\]$", "", line.strip())
        name = re.search(r"(\w+)$", line).group(1)
        kind = rust_type(line[: -len(name)])
        return name, f"[{kind}; {array.group(1)}]" if array else kind

    def module(self, name):
        out = [MODULE.format(name=name).rstrip()]
        for name, macro, value, shift in self.defines:
            kind = {"UINT64_C": "u64", "UINT32_C": "u32"}.get(macro, "i32")
            out.append(f"pub const {name}: {kind} = {value}{' << ' + shift if shift else ''};")
        for enum in self.enums:
            out.append("")
            out += [f"pub const {name}: i32 = {value};" for name, value in enum]
        if self.opaque:
            out += ["", "opaque! {"] + [f"    {name}" for name in self.opaque] + ["}"]
        for name, fields in self.structs.items():
            plain = all("*" not in kind and "[" not in kind for _, kind in fields)
            traits = "Clone, Copy, Debug" + (", Default, PartialEq" if plain else "")
            traits += ", Eq" if plain and all(kind != "f64" for _, kind in fields) else ""
            out += ["", "#[repr(C)]", f"#[derive({traits})]"]
            out += [f"pub struct {name} {{"] + [f"    pub {field}: {kind}," for field, kind in fields] + ["}"]
        for name, args in self.callbacks:
            inner = ", ".join(f"{n}: {t}" for n, t in arguments(args))
            out += ["", f"pub type {name} =", f"    unsafe extern \"C\" fn({inner}) -> i32;"]
        if self.functions:
            out += ["", "extern \"C\" {"]
            out += [signature(f"pub fn {name}", args, result, "    ") for name, args, result in self.functions] + ["}"]
        return "\n".join(out) + "\n"

    def layout(self, language):
        lines = []
        for name, fields in self.structs.items():
            size = f"sizeof({name})" if language == "c" else f"core::mem::size_of::<berth_sys::{name}>()"
            lines.append((f"{name}", size))
            for field, _ in fields:
                offset = f"offsetof({name}, {field})" if language == "c" else f"core::mem::offset_of!(berth_sys::{name}, {field})"
                lines.append((f"{name}.{field}", offset))
        if language == "c":
            body = "\n".join(f'  printf("{what} %zu\\n", {value});' for what, value in lines)
            return f'#include <stdio.h>\n#include "berth.h"\nint main(void) {{\n{body}\n  return 0;\n}}\n'
        body = "\n".join(f'    println!("{what} {{}}", {value});' for what, value in lines)
        return f"fn main() {{\n{body}\n}}\n"


def main():
    option, value, *paths = sys.argv[1:]
    headers = {}
    for path in sorted(paths):
        with open(path, encoding="utf-8") as file:
            headers[os.path.basename(path)[:-2]] = file.read()
    if option == "--layout":
        sys.stdout.write(Header("".join(headers.values())).layout(value))
        return
    with open(f"{value}/lib.rs", "w", encoding="utf-8") as file:
        file.write(HEAD + "".join(f"mod {name};\n" for name in headers) + "\n")
        file.write("".join(f"pub use {name}::*;\n" for name in headers))
    for name, text in headers.items():
        with open(f"{value}/{name}.rs", "w", encoding="utf-8") as file:
            file.write(Header(text).module(name))


if __name__ == "__main__":
    main()
