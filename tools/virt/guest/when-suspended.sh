#!/bin/sh
# SPDX-License-Identifier: MIT
# when-suspended COMMAND [ARG...]: runs it, once the GPU that nobody has used yet is suspended.
until [ "$(cat /sys/bus/platform/devices/*.gpu/power/runtime_status)" = suspended ]; do
	sleep 0.02
done
exec "$@"
