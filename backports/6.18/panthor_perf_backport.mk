# SPDX-License-Identifier: GPL-2.0 or MIT
#
# Included by panthor's Makefile where performance counters are built with the panthor of Linux 6.18 or later as it
# is in a kernel tree, also with a vendor's changes. It finds out what that kernel lacks by looking for it: numbers
# tell little of kernels that are patched.

panthor-$(CONFIG_DRM_PANTHOR_PERF) += panthor_perf_no_fixes.o

# panthor-perf-has NAME,PATTERN,FILE...: NAME is defined if a line of one of these files matches
panthor-perf-has = $(if $(shell grep -sh '$(2)' $(3)),-DPANTHOR_PERF_HAS_$(1))

# Headers without the kernel have the list of what it exports, and a tree that has not been built its source.
panthor-perf-flags := -I$(src)/regs -include $(src)/panthor_perf_backport.h \
	$(call panthor-perf-has,RING_DOORBELL,\<panthor_fw_ring_doorbell\>,$(src)/panthor_fw.h) \
	$(call panthor-perf-has,SNAPSHOT_ID,\<ktime_get_snapshot_id\>,$(srctree)/include/linux/timekeeping.h) \
	$(call panthor-perf-has,CONFIG4,\<config4\>,$(srctree)/include/uapi/linux/perf_event.h) \
	$(call panthor-perf-has,ALLOW_CPU,\<perf_allow_cpu\>.*EXPORT\|EXPORT.*\<perf_allow_cpu\>, \
		$(objtree)/Module.symvers $(srctree)/kernel/events/core.c)

$(foreach file,perf perf_clock perf_fw perf_layout perf_pmu_keep perf_sampler perf_sampler_drain perf_sampler_state \
	perf_session,$(eval CFLAGS_panthor_$(file).o += $(panthor-perf-flags)))
