# SPDX-License-Identifier: MIT
"""Archives that the kernel unpacks as its first root file system (newc cpio, nothing compressed)."""

import os
import stat


class Archive:
    """An archive in memory; directories above a member are made as needed, times are 0."""

    def __init__(self):
        self.parts = []
        self.inode = 0
        self.dirs = set()

    def _member(self, name, mode, data):
        self.inode += 1
        encoded = os.fsencode(name) + b"\0"
        fields = [self.inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(encoded), 0]
        header = b"070701" + b"".join(b"%08x" % f for f in fields)
        self.parts.append(header + encoded + b"\0" * (-(len(header) + len(encoded)) % 4))
        self.parts.append(data)
        self.parts.append(b"\0" * (-len(data) % 4))

    def directory(self, name, mode=0o755):
        name = name.strip("/")
        if not name or name in self.dirs:
            return
        self.directory(os.path.dirname(name))
        self.dirs.add(name)
        self._member(name, stat.S_IFDIR | mode, b"")

    def file(self, name, data, mode=0o644):
        name = name.strip("/")
        self.directory(os.path.dirname(name))
        self._member(name, stat.S_IFREG | mode, data)

    def symlink(self, name, target):
        name = name.strip("/")
        self.directory(os.path.dirname(name))
        self._member(name, stat.S_IFLNK | 0o777, os.fsencode(target))

    def copy(self, path, name):
        """A file or directory of the host, with all that is below it."""
        if os.path.isdir(path):
            self.directory(name)
            for entry in sorted(os.listdir(path)):
                self.copy(os.path.join(path, entry), os.path.join(name, entry))
        elif os.path.islink(path) and not os.path.exists(path):
            self.symlink(name, os.readlink(path))
        else:
            with open(path, "rb") as f:
                self.file(name, f.read(), os.stat(path).st_mode & 0o777)

    def bytes(self):
        parts = list(self.parts)
        saved = self.parts, self.inode
        self._member("TRAILER!!!", 0, b"")
        result = b"".join(self.parts)
        self.parts, self.inode = parts, saved[1]
        # The kernel takes a second archive from a four-byte boundary on.
        return result + b"\0" * (-len(result) % 512)
