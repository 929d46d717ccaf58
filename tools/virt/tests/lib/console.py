# SPDX-License-Identifier: MIT
"""console.py USER PASSWORD LINE SECONDS COMMAND...: start a machine whose console is COMMAND's input and output, log in,
run LINE, which powers it off, and wait for its end. Its console is printed; status 1, with what was waited for, if
that takes longer than SECONDS, which is for a machine that hangs."""

import os
import select
import subprocess
import sys
import time


class Console:
    def __init__(self, command, seconds):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.end = time.monotonic() + seconds
        self.seen = b""

    def read(self, wanted):
        """More of what it says, or b"" at its end."""
        ready, _, _ = select.select([self.process.stdout], [], [], max(0, self.end - time.monotonic()))
        if not ready:
            self.process.kill()
            sys.exit(f"console.py: no {wanted}: the machine hangs, or is too slow")
        data = os.read(self.process.stdout.fileno(), 65536)
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return data

    def answer(self, question, text):
        while question not in self.seen:
            data = self.read(repr(question.decode()))
            if not data:
                sys.exit(f"console.py: no {question.decode()!r}: the machine has ended")
            self.seen += data
        self.seen = self.seen.partition(question)[2]
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def wait(self):
        while self.read("end"):
            pass
        return self.process.wait()


user, password, line, seconds, *command = sys.argv[1:]
console = Console(command, int(seconds))
console.answer(b" login: ", user)
console.answer(b"Password: ", password)
console.answer(b":~$ ", line)
sys.exit(console.wait())
