"""Prints the code of one language on a page: code_of.py LANGUAGE PAGE.md. Fails if there is none."""

import re
import sys

with open(sys.argv[2], encoding="utf-8") as page:
    code = re.findall(rf"^```{sys.argv[1]}[^\n]*\n(.*?)^```$", page.read(), flags=re.S | re.M)
sys.stdout.write("\n".join(code))
sys.exit(0 if code else 1)
