"""Writes a C program that calls every function of the header in every wrong way: misuse_gen.py HEADER… >misuse_all.c.

NULL and 0 for everything; then, for functions that take an object, a handle that was freed, one of another type, an address
of the caller's and one of nobody's. Whatever returns a code returns BERTH_INVALID_ARGUMENT, and nothing is written.
"""

import re
import sys

# Without an object these are right with NULL and 0.
FINE = {"berth_abi_version", "berth_features"}


def functions(text):
    """(result, name, [(type, name)]) of each."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for result, name, args in re.findall(r"BERTH_API\s+([\w\s*]+?)\b(berth_\w+)\(([^)]*)\);", text):
        split = [] if args.strip() == "void" else [re.match(r"(.*?)(\w+)$", " ".join(a.split())).groups() for a in args.split(",")]
        yield " ".join(result.split()), name, [(kind.strip(), arg) for kind, arg in split]


def main():
    text = "".join(open(path, encoding="utf-8").read() for path in sorted(sys.argv[1:]))
    opaque = set(re.findall(r"typedef struct (berth_\w+) berth_\w+;", text))
    out = []
    for result, name, args in functions(text):
        def call(value):
            return f"{name}({', '.join(value(kind, arg) for kind, arg in args)})"

        def null(kind, arg):
            return "NULL" if "*" in kind or kind == "berth_on_pull" else "0"

        def stale(kind, arg):
            base = kind.replace("const ", "").rstrip("*").strip()
            if kind.endswith("**"):
                return f"({kind})out" if arg != "error" else "&error"
            if kind.endswith("*") and base in opaque:
                return f"({kind})handle"
            if kind == "const char*":
                return '"x"'
            if kind == "size_t*":  # of a text that is not there: 0
                return "&size"
            if kind.endswith("*"):
                return f"({kind})out"
            return "NULL" if kind == "berth_on_pull" else "1"

        codes = result == "int32_t" and (name.split("_")[-1] not in ("pid", "pty", "kind", "code", "finished", "ended", "abandoned", "free", "bound")
                                         or "exit" in name)
        is_code = codes and (any(arg == "error" for _, arg in args) or re.search(r"_(set|add|deny|allow|dangerous|beneath|unset|append|prepend)", name))
        takes = [base for kind, _ in args for base in [kind.replace("const ", "").rstrip("*").strip()] if kind.count("*") == 1 and base in opaque]
        if name in FINE or not args:
            continue
        if result == "void":
            out.append(f"  {call(null)};")
        elif is_code:
            out.append(f"  CHECK_CODE(BERTH_INVALID_ARGUMENT, {call(null)});")
        else:
            out.append(f"  (void){call(null)};")
        if takes and takes != ["berth_error"]:
            out.append("  for (size_t i = 0; i < kWrong; ++i) {")
            out.append("    void* handle = wrong[i];")
            if result == "void":
                out.append(f"    {call(stale)};")
            elif is_code:
                out.append("    berth_error* error = NULL;" if any(a == "error" for _, a in args) else "")
                out.append(f"    CHECK_CODE(BERTH_INVALID_ARGUMENT, {call(stale)});")
                if any(a == "error" for _, a in args):
                    out.append("    CHECK(berth_error_code(error) == BERTH_INVALID_ARGUMENT);")
                    out.append("    berth_error_free(error);")
                out.append("    CHECK(memcmp(out, untouched, sizeof(out)) == 0);")
            else:
                out.append(f"    (void){call(stale)};")
            out.append("  }")
    body = "\n".join(line for line in out if line)
    print(f"""/* Made by misuse_gen.py: every function, wrongly called. */
#include <stdio.h>
#include <string.h>

#include "capi/berth.h"
#include "capi/c_test_support.h"

int main(void) {{
  enum {{ kWrong = 4 }};
  size_t size = 1;
  static _Alignas(16) char out[512], untouched[512];
  memset(out, 0x5a, sizeof(out));
  memset(untouched, 0x5a, sizeof(untouched));
  berth_strings* freed = NULL;
  CHECK_OK(berth_strings_new(&freed, NULL));
  berth_strings_free(freed);
  berth_error* other = NULL; /* a handle of a type that no function takes as its object */
  CHECK_CODE(BERTH_INVALID_ARGUMENT, berth_strings_new(NULL, &other));
  void* const wrong[kWrong] = {{freed, other, out, (void*)(uintptr_t)-1}};
{body}
  berth_error_free(other);
  puts("PASS");
  return 0;
}}""")


if __name__ == "__main__":
    main()
