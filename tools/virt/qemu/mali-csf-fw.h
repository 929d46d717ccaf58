/*
 * The virtual Mali's firmware image, as mkfw writes it and the MCU model reads
 * it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later OR MIT
 *
 * The model executes no Cortex-M code: what firmware does is in the model. It
 * insists all the same on finding, at address 0 of its address space, the
 * image which mkfw made, so that a file which was corrupted, or not mapped
 * where it should be, does not boot. All fields are little endian.
 */
#ifndef MALI_CSF_FW_H
#define MALI_CSF_FW_H

#include <stddef.h>
#include <stdint.h>

#define MALI_FW_MAGIC       0x7741464du     /* "MFAw" */
#define MALI_FW_VERSION     1
#define MALI_FW_CODE_VA     0x00000000u
#define MALI_FW_CODE_SIZE   0x00002000u
#define MALI_FW_DATA_VA     0x00800000u
#define MALI_FW_DATA_SIZE   0x00004000u

/* The start of the code section. */
struct mali_fw_image {
    uint32_t magic;
    uint32_t version;
    uint32_t size;          /* of the whole image, this header included */
    /* major << 24 | minor << 16 | patch; 0: the model's own */
    uint32_t iface_version;
    uint32_t crc;           /* CRC-32 of what follows this header */
    uint32_t reserved[3];
};

/* CRC-32 (IEEE 802.3), bit by bit: a few KiB, once a boot. */
static inline uint32_t mali_fw_crc32(const uint8_t *p, size_t n)
{
    uint32_t crc = ~0u;

    while (n--) {
        crc ^= *p++;
        for (int i = 0; i < 8; i++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        }
    }
    return ~crc;
}

#endif
