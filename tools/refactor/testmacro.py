#!/usr/bin/env python3
# testmacro.py - turns unit tests with a main() of their own into cases that register themselves.
# SPDX-License-Identifier: Apache-2.0
"""
usage: tools/refactor/testmacro.py [FILE...]     rewrites tests/unit/*/test_*.c (those with a main())
       tools/refactor/testmacro.py --tap BUILD   runs BUILD/tests/test_*; a line for each case, in the
                                                 order of their names: compare before and after

A case `static void name(void **state)` becomes TEST(name) or TEST_WITH(name, setup, teardown) of
tests/lib/test.h, without its `(void)state;`. The fixtures of main() become TEST_GROUP(setup, teardown).
What test.h includes is included no more. A main() that does something besides is refused.
"""
import glob
import os
import re
import subprocess
import sys

# Cases whose order matters stay in the order of main(); others take that of the file.
ORDERED = {"test_c_thread.c"}
CASE = re.compile(r"cmocka_unit_test(_setup_teardown|_setup|_teardown)?\(\s*(\w+)(?:,\s*(\w+))?(?:,\s*(\w+))?\)")
MAIN = re.compile(r"\nint main\(void\)\n\{\n(.*?)\n\}\n", re.S)
RUN = re.compile(r"return cmocka_run_group_tests(?:_name)?\((?:\"\w+\", )?tests, (\w+), (\w+)\);")
LOCAL = re.compile(r"#define TEST\(f\) (cmocka_unit_test\w*\(f, [^\n]*)\n\n?")


def included():
    """What test.h includes, through base/std.h."""
    names = {"cmocka.h"}
    for path in ("tests/lib/test.h", "src/base/std.h"):
        with open(path, encoding="utf-8") as f:
            names.update(re.findall(r"#include <([^>]+)>", f.read()))
    return names


def cases_of(text):
    """What main() registers: [(name, setup, teardown)], and the fixtures of the group."""
    local = LOCAL.search(text)
    body = MAIN.search(text).group(1)
    if local:
        body = re.sub(r"\bTEST\((\w+)\)", lambda m: re.sub(r"\(f,", f"({m.group(1)},", local.group(1)), body)
    cases = []
    for kind, name, a, b in CASE.findall(body):
        setup = a if kind in ("_setup", "_setup_teardown") else "NULL"
        teardown = b if kind == "_setup_teardown" else a if kind == "_teardown" else "NULL"
        if (name, setup, teardown) not in cases:
            cases.append((name, setup, teardown))
    rest = CASE.sub("", RUN.sub("", body)).replace("const struct CMUnitTest tests[] = {", "")
    rest = re.sub(r"/\*.*?\*/|^#.*$|[\s,;{}]", "", rest, flags=re.S | re.M)
    if rest:
        sys.exit(f"main() does more: {rest}")
    return cases, RUN.search(body).groups()


def definition(text, name):
    """The case with the comment in front of it."""
    return re.search(r"(?:^/\*(?:(?!\*/).)*\*/\n)?^static [^\n]*\bvoid " + name + r"\(void \*\*(\w+)\)\n\{\n.*?^\}\n",
                     text, re.S | re.M)


def converted(old, case):
    name, setup, teardown = case
    state = definition(old, name).group(1)
    head = f"TEST({name})" if (setup, teardown) == ("NULL", "NULL") else f"TEST_WITH({name}, {setup}, {teardown})"
    new = re.sub(r"^static [^\n]*\bvoid " + name + r"\(void \*\*\w+\)$", head, old, flags=re.M)
    new = re.sub(r"(?<=\n)\t\(void\)" + state + r";\n", "", new)
    if state != "state" and re.search(r"\b" + state + r"\b", new):
        sys.exit(f"{name}: its parameter is not called `state`")
    new = re.sub(r"\{\n\n", "{\n", re.sub(r"\n\n\n+", "\n\n", new))
    return re.sub(r"\n\n\}\n$", "\n}\n", new)


def convert(path, known):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    if not MAIN.search(text):
        return False
    cases, group = cases_of(text)
    text = LOCAL.sub("", MAIN.sub("\n", text))
    last = -1
    for case in cases:
        m = definition(text, case[0])
        new = converted(m.group(0), case)
        if m.start() < last and os.path.basename(path) in ORDERED:
            text = text[:m.start()].rstrip("\n") + "\n" + text[m.end():].rstrip("\n") + "\n\n" + new
            last = text.rfind(new)
        else:
            text = text[:m.start()] + new + text[m.end():]
            last = max(last, m.start())
    text = re.sub(r"^/\*[^\n]*cmocka[^\n]*\*/\n(?=#include)", "", text, flags=re.M)
    text = re.sub(r"^#include <([^>]+)>\n", lambda m: "" if m.group(1) in known else m.group(0), text, flags=re.M)
    text = re.sub(r"^#include \"base/std.h\"\n", "", text, flags=re.M)
    text = re.sub(r"^#include \"", '#include "test.h"\n#include "', text, count=1, flags=re.M)
    text = re.sub(r"^(/\* SPDX[^\n]*\n)\n+(?=#include)", r"\1", re.sub(r"\n\n\n+", "\n\n", text), flags=re.M)
    text = text.rstrip("\n") + "\n"
    if group != ("NULL", "NULL"):
        text += f"\nTEST_GROUP({group[0]}, {group[1]});\n"
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return True


def tap(build):
    for program in sorted(glob.glob(os.path.join(build, "tests/test_*"))):
        if program.endswith(".d"):
            continue
        out = subprocess.run([program], env=dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP"), stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, errors="replace", check=False).stdout
        for line in sorted(re.findall(r"^((?:not )?ok) \d+ - (\S+)", out, re.M), key=lambda r: r[1]):
            print(os.path.basename(program), *line, flush=True)


def main():
    if sys.argv[1:2] == ["--tap"]:
        tap(sys.argv[2])
        return
    os.chdir(os.path.join(os.path.dirname(__file__), "../.."))
    known = included()
    done = [p for p in sys.argv[1:] or sorted(glob.glob("tests/unit/*/test_*.c")) if convert(p, known)]
    if done:
        subprocess.run(["clang-format-14", "-i", *done], check=True)
    print(f"{len(done)} files rewritten")


main()
