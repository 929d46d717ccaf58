#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Prints how busy the GPU is and what it reads and writes, ten times in a second."""
import signal
import panthor_perf

signal.signal(signal.SIGPIPE, signal.SIG_DFL)
READ, WRITTEN = "MaliExtBusRdBy", "MaliExtBusWrBy"

with panthor_perf.open() as gpu:
    print(gpu.name)
    with gpu.session([READ, WRITTEN], period=0.1) as session:
        for number, sample in enumerate(session, 1):
            print("%5.1f %% %8.3f MB/s read %8.3f MB/s written" % (
                100 * sample.load.of_time,
                sample.values[READ] / sample.seconds / 1e6,
                sample.values[WRITTEN] / sample.seconds / 1e6))
            if number == 10:
                break
