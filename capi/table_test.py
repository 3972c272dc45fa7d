"""Nothing that C++ can do is missing in C: table_test.py TABLE SYMBOLS HEADER….

Every public function, method and field of the headers is in the table with the C functions that do the same, or with
"-" and why there is none. A new one that the table lacks fails here, and so does a C function that is in no line.
"""

import re
import sys


def declarations(text):
    """Names of what is public: "Class::Method", "Struct.field", "Function"."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"^\s*#[^\n]*(\\\n[^\n]*)*", "", text, flags=re.M)
    text = re.sub(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'', '""', text)
    names = []
    scopes = []  # [kind, name, public]
    statement = ""
    at = 0
    while at < len(text):
        char = text[at]
        if char in "{;}" and statement.count("(") == statement.count(")"):
            head = " ".join(statement.split())
            statement = ""
            if char == "}":
                if scopes:
                    scopes.pop()
            elif char == "{":
                opened = re.match(r"(?:template <.*?> )?(namespace|class|struct|enum class|enum)\b ?([\w:]*)", head)
                if opened and "(" not in head.split(":")[0] and "=" not in head:
                    kind, name = opened.group(1), opened.group(2)
                    scopes.append([kind, name, kind != "class"])
                else:  # a body, or an initialiser: nothing inside is a declaration
                    note(head, scopes, names)
                    depth, at = 1, at + 1
                    while depth:
                        depth += {"{": 1, "}": -1}.get(text[at], 0)
                        at += 1
                    if head.endswith("=") or "(" not in head:  # of an initialiser, the rest of its line
                        at = text.index(";", at) + 1
                    continue
            else:
                note(head, scopes, names)
        elif char == ":" and statement.strip() in ("public", "private", "protected"):
            scopes[-1][2] = statement.strip() == "public"
            statement = ""
        else:
            statement += char
        at += 1
    return names


def note(head, scopes, names):
    """Adds the declaration in `head`, if it is a public one."""
    if not head or not all(public for kind, _, public in scopes) or any("enum" in kind for kind, _, _ in scopes):
        return
    if re.match(r"(friend|using|typedef|static_assert|class|struct|enum|extern|template|inline constexpr|static constexpr)\b", head):
        return
    owner = "::".join(name.split("::")[-1] for kind, name, _ in scopes if kind in ("class", "struct"))
    head = re.sub(r"ABSL_\w+\([^()]*\)|\[\[\w+\]\]", "", head)
    if "operator" in head or "~" in head or re.search(r"= (default|delete)$", head) and " " not in head.split("(")[0]:
        return
    call = re.search(r"(\w+)\s*\(", head.split("=")[0])
    if call:
        name = call.group(1)
        if owner and name != owner.split("::")[-1]:
            names.append(f"{owner}::{name}")
        elif not owner:
            names.append(name)
    elif owner:  # fields, several with a comma
        plain = re.sub(r"<[^<>]*(<[^<>]*>)?[^<>]*>", "", head.split("{")[0])
        first = plain.split("=")[0].split(",")[0].split()
        names.append(f"{owner}.{first[-1]}")
        names += [f"{owner}.{more.strip().split()[0]}" for more in plain.split(",")[1:] if re.match(r"\s*\w+", more)]


def main():
    table_path, symbols_path, *headers = sys.argv[1:]
    with open(symbols_path, encoding="utf-8") as file:
        symbols = set(file.read().split())
    table, wrong, used = {}, [], set()
    with open(table_path, encoding="utf-8") as file:
        for line in file:
            words = line.split("#")[0].split()
            if not words:
                continue
            table[words[0]] = words[1:]
            if len(words) < 2:
                wrong.append(f"{words[0]}: by which C function?")
            for name in words[1:]:
                used.add(name)
                if name != "-" and name.split(":")[0] not in symbols:
                    wrong.append(f"{words[0]}: there is no C function {name}")
            if words[1:] == ["-"] and "#" not in line:
                wrong.append(f"{words[0]}: why is there none?")
    found = set()
    for path in headers:
        with open(path, encoding="utf-8") as file:
            names = declarations(file.read())
        if not names:
            wrong.append(f"{path}: nothing was found in it")
        for name in names:
            found.add(name)
            if name not in table:
                wrong.append(f"{path}: {name} is not in the table")
    wrong += [f"{name}: in no header any more" for name in table if name not in found and not name.startswith("C:")]
    wrong += [f"{name}: a C function that no line of the table has" for name in sorted(symbols - {u.split(":")[0] for u in used})]
    print("\n".join(wrong) or f"{len(found)} declarations have their C functions")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
