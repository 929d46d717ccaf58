# SPDX-License-Identifier: MIT
# The devices of QEMU that are built: the machine, which brings its console (PL011), the slots of
# virtio-mmio and the Mali (qemu/qemu.patch), the ports that tools/virt/run talks through, and its disk.
CONFIG_ARM_VIRT=y
CONFIG_VIRTIO_SERIAL=y
CONFIG_VIRTIO_BLK=y
# What the machine and its processors cannot do without, though they do not select it.
CONFIG_ARM_GICV3_TCG=y
CONFIG_ARM_V7M=y
