"""Compares the declarations of berth-sys with berth.h: check_sys.py HEADER LIB_RS. Exits with 1 and the differences."""

import re
import sys

TYPES = {
    "int32_t": "i32", "int64_t": "i64", "uint16_t": "u16", "uint32_t": "u32", "uint64_t": "u64",
    "size_t": "usize", "char": "c_char",
}


def rust_type(text):
    """The Rust spelling of a C type."""
    words = text.replace("*", " * ").split()
    name = next(word for word in words if word not in ("const", "*"))
    out = TYPES.get(name, name)
    for depth in range(words.count("*")):
        out = ("*const " if "const" in words and depth == 0 else "*mut ") + out
    return out


def functions_of_header(text):
    out = {}
    for result, name, args in re.findall(r"BERTH_API\s+([\w\s*]+?)(berth_\w+)\(([^)]*)\);", text):
        types = [] if args.strip() == "void" else [
            rust_type(re.sub(r"\w+$", "", arg.strip())) for arg in args.split(",")
        ]
        out[name] = (types, "" if result.strip() == "void" else rust_type(result))
    return out


def functions_of_rust(text):
    out = {}
    for name, args, result in re.findall(r"pub fn (berth_\w+)\(([^)]*)\)(?: -> ([^;]+))?;", text):
        out[name] = ([arg.split(":")[1].strip() for arg in args.split(",") if arg.strip()], result)
    return out


def constants(pattern, text):
    return {name: int(value) for name, value in re.findall(pattern, text)}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        header = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    with open(sys.argv[2], encoding="utf-8") as file:
        rust = file.read()
    wrong = []
    for what, ours, theirs in (
        ("function", functions_of_header(header), functions_of_rust(rust)),
        ("constant", constants(r"(BERTH_\w+)\s*=\s*(\d+)", header), constants(r"(BERTH_\w+): i32 = (\d+);", rust)),
        ("feature", constants(r"(BERTH_FEATURE_\w+) \(UINT64_C\(1\) << (\d+)\)", header),
         constants(r"(BERTH_FEATURE_\w+): u64 = 1 << (\d+);", rust)),
    ):
        if not ours:
            wrong.append(f"no {what} was found in the header")
        for name in sorted(ours.keys() | (theirs.keys() - {"BERTH_ABI_VERSION"})):
            if ours.get(name) != theirs.get(name):
                wrong.append(f"{what} {name}: header {ours.get(name)}, berth-sys {theirs.get(name)}")
    print("\n".join(wrong) or f"{len(functions_of_header(header))} functions agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
