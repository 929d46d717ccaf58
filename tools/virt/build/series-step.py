#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""series-step.py VERSION FULL OUT [STEP...]

Copies the files of the kernel tree FULL to OUT, without what the STEPs add, which are the steps of the
series that are still to come, in their order. What a step adds to files is listed behind the line "---"
of its file in patches/series, as its README says.
"""

import fnmatch
import os
import re
import signal
import sys

PANTHOR = "drivers/gpu/drm/panthor/"


class Mismatch(Exception):
    pass


def width(line):
    line = line.expandtabs(8)
    return len(line) - len(line.lstrip())


def items(lines):
    """The top level of a source file: (first line, end, what its name is looked for in)."""
    found, i, begin = [], 0, None
    while i < len(lines):
        line, start, head = lines[i], i, ""
        if not line.strip() or line.startswith("//"):
            begin = None
            i += 1
            continue
        if line.startswith("/*"):
            while "*/" not in lines[i]:
                i += 1
            i += 1
            # A comment belongs to what follows it.
            begin = start
            continue
        if line.startswith("#"):
            while lines[i].endswith("\\"):
                i += 1
            i += 1
            if re.match(r"#\s*define\s", line):
                head = re.split(r"[\s(]+", line, maxsplit=2)[1]
        else:
            depth = 0
            while i < len(lines):
                code = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])*\'|/\*.*?\*/', "", lines[i]).rstrip()
                depth += len(re.findall(r"[({]", code)) - len(re.findall(r"[)}]", code))
                i += 1
                if depth == 0 and code.endswith((";", "}", "},")):
                    break
            head = re.split(r"[{=;]", "\n".join(lines[start:i]))[0]
        found.append((start if begin is None else begin, i, head))
        begin = None
    return found


def named(found, name):
    return [item for item in found if re.search(r"\b%s\b" % re.escape(name), item[2])]


def cut(lines, start, end):
    """Takes lines out, and the empty line that has nothing to part any more."""
    before, after = lines[:start], lines[end:]
    while before and not before[-1] and (not after or not after[0] or after[0].lstrip().startswith("}")):
        before.pop()
    while after and not after[0] and (not before or before[-1].endswith("{")):
        after.pop(0)
    return before + after


def take_definitions(lines, names):
    """Without definitions and declarations of these names; A..B are all from A to B."""
    count, tests = 0, []
    for name in names:
        found = items(lines)
        if ".." in name:
            first, last = name.split("..")
            first, last = named(found, first), named(found, last) if last else found
            gone = [(first[0][0], last[-1][1], "")] if first and last else []
        else:
            gone = named(found, name)
        for start, end, _ in reversed(gone):
            tests += re.findall(r"^static void (\w+)\(struct kunit", "\n".join(lines[start:end]), re.M)
            lines = cut(lines, start, end)
        count += bool(gone)
    cases = re.compile(r"\s+KUNIT_CASE(_PARAM)?\((%s)[,)]" % "|".join(tests))
    if tests:
        lines = [line for line in lines if not cases.match(line)]
    return lines, count


def take_statement(lines, scope, text):
    """Without the statement, member or paragraph that begins so, and the comment above it."""
    at = [i for i in range(*scope[:2]) if lines[i].strip().startswith(text)]
    if len(at) != 1:
        return lines, len(at)
    start = at[0]
    end = start + 1
    if scope[2:] == ("paragraph",):
        while end < len(lines) and lines[end].strip():
            end += 1
        return cut(lines, start, end), 1
    indent = width(lines[start])
    while end < len(lines):
        ahead = end
        while ahead < len(lines) and not lines[ahead].strip():
            ahead += 1
        if ahead == len(lines):
            break
        more = width(lines[ahead]) > indent
        same = width(lines[ahead]) == indent and ahead == end
        if not more and not (same and re.match(r"\s*(}|else\b|{$)", lines[ahead])):
            break
        end = ahead + 1
    if not text.startswith("/*") and start and lines[start - 1].rstrip().endswith("*/") and \
       width(lines[start - 1]) - indent in (0, 1) and lines[start - 1].lstrip()[0] in "*/":
        start -= 1
        while "/*" not in lines[start]:
            start -= 1
    return cut(lines, start, end), 1


def take_text(lines, scope, text, before):
    """With the lines @before where @text is, of which white space does not matter and ... is anything."""
    space = r"\s+(?:\*\s+)?"
    pattern = ".*?".join(space.join(re.escape(w) for w in part.split()) if part.strip() else ""
                         for part in re.split(r"\s*\.\.\.\s*", text))
    body = "\n".join(lines[scope[0]:scope[1]])
    at = list(re.finditer(pattern, body, re.S))
    if len(at) != 1:
        return lines, len(at)
    start, end = at[0].span()
    head = body[:start]
    indent = re.match(r"\s*", head[head.rfind("\n") + 1:] + body[start:end]).group()
    if not before:
        head = re.sub(r"(?<=\S) +$", "", head)
    new = head + ("\n" + indent).join(before) + body[end:]
    lines = lines[:scope[0]] + new.split("\n") + lines[scope[1]:]
    first = scope[0] + head.count("\n")
    if not before and not lines[first].strip(" \t*"):
        return cut(lines, first, first + 1), 1
    lines[first] = lines[first].rstrip()
    return lines, 1


def tidy(path, text):
    """Without what has nothing left in it."""
    last = None
    while last != text:
        last = text
        text = re.sub(r"^#if[^\n]*\n(?:[ \t]*\n|#else[^\n]*\n)*#endif[^\n]*\n\n?", "", text, flags=re.M)
    if os.path.basename(path) in ("Makefile", "Kbuild"):
        text = re.sub(r" \\\n(?=\n|\Z)", "\n", text)
        text = re.sub(r"^[^\n]*[:+]=\n\n?", "", text, flags=re.M)
    return text


class Step:
    """What a step adds."""

    def __init__(self, path, version):
        self.path = path
        self.parts = []
        listed = open(path, encoding="utf-8").read().partition("\n---\n")[2]
        before = None
        for line in listed.splitlines():
            word, _, rest = line.partition(" ")
            if not line.strip() or word == "#":
                continue
            if word.startswith("@"):
                self.parts.append((rest.split() if word in ("@", "@" + version) else [], []))
                scope, before = None, None
                continue
            ops = self.parts[-1][1]
            if word == "in":
                scope = rest.strip()
            elif word == "def":
                ops.append((word, scope, rest.split(), None))
            elif word == "-":
                before = (before or []) + ([rest] if rest else [])
            elif word == "+":
                ops.append(("text" if before is not None else "statement", scope, rest, before))
                before = None
            else:
                raise Mismatch("%s: what is \"%s\"?" % (path, line))

    def without(self, tree, strict):
        for patterns, ops in self.parts:
            patterns = [p[1:] if p.startswith("/") else PANTHOR + p for p in patterns]
            paths = [f for f in tree if any(fnmatch.fnmatchcase(f, p) for p in patterns)]
            for op, scope, what, before in ops:
                total = 0
                for path in paths:
                    lines = tree[path].split("\n")
                    if op == "def":
                        lines, count = take_definitions(lines, what)
                        if strict and len(paths) == 1 and count != len(what):
                            raise Mismatch("%s: %s: not all of these are there: %s" %
                                           (self.path, path, " ".join(what)))
                    else:
                        limits = (0, len(lines))
                        if scope:
                            inside = [i for i in items(lines)
                                      if re.search(r"\b%s\s*([([]|$)" % re.escape(scope), i[2])]
                            if not inside:
                                continue
                            limits = max(inside, key=lambda i: i[1] - i[0])[:2]
                        if op == "text":
                            lines, count = take_text(lines, limits, what, before)
                        else:
                            kind = () if re.search(r"\.[chS]$|Makefile|Kbuild|Kconfig", path) else ("paragraph",)
                            lines, count = take_statement(lines, limits + kind, what)
                        if count > 1:
                            raise Mismatch("%s: %s has this %u times: %s" % (self.path, path, count, what))
                    total += count
                    tree[path] = tidy(path, "\n".join(lines)) if count else tree[path]
                if strict and paths and not total:
                    raise Mismatch("%s: this is not in %s: %s" % (self.path, " ".join(patterns), what))


def main():
    # A closed pipe ends this program quietly.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
        return
    version, full, out = sys.argv[1:4]
    steps = [Step(path, version) for path in sys.argv[4:]]
    tree = {}
    for root, dirs, files in os.walk(full):
        dirs[:] = [d for d in dirs if d != ".git"]
        for name in files:
            path = os.path.join(root, name)
            with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
                tree[os.path.relpath(path, full)] = file.read()
    # Of the step that comes next all must be there; others may add to files that are not there yet.
    for number, step in reversed(list(enumerate(steps))):
        step.without(tree, number == 0)
    for path, text in tree.items():
        path = os.path.join(out, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)


try:
    main()
except Mismatch as mismatch:
    sys.exit(str(mismatch))
