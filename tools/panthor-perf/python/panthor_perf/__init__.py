# SPDX-License-Identifier: MIT
"""Performance counters of Arm Mali GPUs with the panthor driver, by libpanthor-perf.

To count:

    import panthor_perf

    with panthor_perf.open() as gpu:
        with gpu.session(["MaliGPUActiveCy", "MaliTexUtil"], period=0.01) as session:
            for sample in session:
                print(sample.end_ns, sample.values)

To read what panthor-perf record has written:

    with panthor_perf.Recording("panthor-perf.data") as recording:
        print(recording.total().load)
        frame = recording.dataframe(["MaliGPUActiveCy", "MaliExtBusRdBy"])

Times of samples are those of CLOCK_MONOTONIC_RAW, in nanoseconds; periods, and times within a recording, are in
seconds. What fails is an Error, whose text says what to do. All but samples, which are plain data, is for one thread at
a time.
"""

from ._counting import Gpu, Session, frame, gpus, mark, open, region, version
from ._library import Error
from ._recording import Device, Frame, Mark, Part, Recording, Region, Total
from ._values import Counter, Load, Sample

__all__ = ["Counter", "Device", "Error", "Frame", "Gpu", "Load", "Mark", "Part", "Recording", "Region", "Sample", "Session",
           "Total", "frame", "gpus", "mark", "open", "region", "version"]
