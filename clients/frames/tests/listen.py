# SPDX-License-Identifier: MIT
"""listen.py COMMAND...: runs it, and prints what it says, its status, its regions in [], and how many frames each process had.

It listens as a recorder does.
"""
import os, socket, struct, subprocess, sys, tempfile, threading

HEAD = struct.Struct("<IIQQ32s")
MAGIC = 0x31465050
MARK_HEAD = struct.Struct("<IIQ")
MARK_MAGIC = 0x314b4d50
frames, marks, wrong, missed = {}, [], 0, 0


def take(message):
    global wrong, missed
    if MARK_HEAD.unpack_from(message)[0] == MARK_MAGIC:
        missed += MARK_HEAD.unpack_from(message)[1]
        marks.append(message[MARK_HEAD.size:].decode())
        return
    magic, lost, program, number, name = HEAD.unpack_from(message)
    times = struct.unpack_from(f"<{(len(message) - HEAD.size) // 8}Q", message, HEAD.size)
    wrong += magic != MAGIC
    missed += lost
    known = frames.setdefault((program, name.rstrip(b"\0").decode()), set())
    # Those without a number come once.
    known.update((number + i if number else 0, time) for i, time in enumerate(times))


with tempfile.TemporaryDirectory() as directory:
    path = os.path.join(directory, "socket")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.bind(path)

    def listen():
        while True:
            message = listener.recv(8192)
            if not message:
                return
            take(message)

    thread = threading.Thread(target=listen)
    thread.start()
    environment = dict(os.environ, PANTHOR_PERF_SOCKET=path)
    done = subprocess.run(sys.argv[1:], env=environment, stdout=subprocess.PIPE)
    # Behind all of its own.
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"", path)
    thread.join()
print(done.stdout.decode().strip(), done.returncode, *(["[" + "|".join(marks) + "]"] if marks else []),
      *[f"{name}:{len(known)}" for (_, name), known in sorted(frames.items())],
      *([f"wrong:{wrong}"] if wrong else []), *([f"missed:{missed}"] if missed else []))
