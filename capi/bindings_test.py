"""What C offers is there in Go and in Rust: bindings_test.py BINDINGS SYMBOLS SOURCE….

Every exported function is called by the sources of each language, or BINDINGS has a line "symbol language reason". A new
one that a language lacks fails here, and so does a line for one that is called, or that there is none of.
"""

import re
import sys

LANGUAGES = {"go": "go", "rs": "rust"}


def called(text):
    """Functions that are named outside of comments. What cgo compiles stands between /* and */."""
    return set(re.findall(r"\bberth_\w+", re.sub(r"//[^\n]*", "", text)))


def main():
    bindings_path, symbols_path, *sources = sys.argv[1:]
    with open(symbols_path, encoding="utf-8") as file:
        symbols = set(file.read().split())
    used = {language: set() for language in LANGUAGES.values()}
    for path in sources:
        with open(path, encoding="utf-8") as file:
            used[LANGUAGES[path.rsplit(".", 1)[1]]] |= called(file.read())
    wrong = [f"{language}: nothing was found" for language in used if not used[language] & symbols]
    left_out = set()
    with open(bindings_path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("#") or not line.strip():
                continue
            symbol, language, reason = (line.split(maxsplit=2) + ["", ""])[:3]
            if symbol not in symbols:
                wrong.append(f"{symbol}: there is no such C function")
            if language not in used:
                wrong.append(f"{symbol}: there is no language '{language}'")
            elif symbol in used[language]:
                wrong.append(f"{symbol}: it is called in {language}")
            if not reason.strip():
                wrong.append(f"{symbol}: why is it not called?")
            if (symbol, language) in left_out:
                wrong.append(f"{symbol}: twice for {language}")
            left_out.add((symbol, language))
    for language, names in sorted(used.items()):
        wrong += [f"{symbol}: not called in {language}" for symbol in sorted(symbols - names)
                  if (symbol, language) not in left_out]
    print("\n".join(wrong) or f"{len(symbols)} C functions are there in {' and '.join(sorted(used))}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
