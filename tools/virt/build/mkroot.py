# SPDX-License-Identifier: MIT
"""mkroot.py DEST KERNEL SYSROOT FIRMWARE FIRMWARE_LIST: writes DEST/root.cpio.

DEST/tools has the programs, "NAME<tab>FILE" a line.
"""

import os
import sys

from cpio import Archive


def main():
    dest, kernel, sysroot, firmware, firmware_list = sys.argv[1:]
    root = Archive()
    for d in ("dev", "proc", "sys", "tmp", "run", "etc", "mnt", "root", "usr/bin", "usr/sbin", "sbin", "virt"):
        root.directory(d)
    busybox = os.path.join(sysroot, "bin/busybox")
    root.copy(busybox, "bin/busybox")
    root.file("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n")
    root.file("etc/group", b"root:x:0:\nnogroup:x:65534:\n")

    taken = set()
    with open(os.path.join(dest, "tools")) as f:
        for line in f.read().splitlines():
            name, path = line.split("\t")
            with open(path, "rb") as program:
                root.file("init" if name == "init" else "usr/bin/" + name, program.read(), 0o755)
            taken.add(name)

    # Busybox cannot be asked for its applets on a machine that does not run it: they are in it.
    for name in applets(busybox):
        if name not in taken and name != "busybox":
            root.symlink("bin/" + name, "busybox")

    # Where ncurses looks for what a terminal can do.
    root.copy(os.path.join(sysroot, "lib/terminfo"), "lib/terminfo")

    modules = os.path.join(kernel, "modules")
    root.copy(modules, "/")

    first = os.path.join(kernel, "first")
    if os.path.exists(first):
        with open(first, "rb") as f:
            root.file("virt/first", f.read().replace(b"\n", b"\0"))

    with open(firmware, "rb") as f:
        data = f.read()
    with open(firmware_list) as f:
        for arch in f.read().splitlines():
            if arch and not arch.startswith("#"):
                root.file(f"lib/firmware/arm/mali/arch{arch}/mali_csffw.bin", data)

    path = os.path.join(dest, "root.cpio")
    with open(path + ".new", "wb") as f:
        f.write(root.bytes())
    os.rename(path + ".new", path)


def applets(busybox):
    """The names, one after the other and in order, in busybox's table of them."""
    with open(busybox, "rb") as f:
        data = f.read()
    start = data.index(b"\0[\0[[\0") + 1
    names = []
    for name in data[start:].split(b"\0"):
        if not name or (names and name.decode("ascii", "replace") < names[-1]):
            break
        names.append(name.decode("ascii"))
    if "sh" not in names or "modprobe" not in names:
        sys.exit("mkroot: no table of applets in busybox")
    return names


main()
