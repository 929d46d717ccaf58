/*
 * Arm Mali CSF GPU: injected faults
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the bench page makes go wrong, behind a few questions that the files
 * concerned ask at the place where it would go wrong. Without injections the
 * answers are those of a GPU.
 */
#include "qemu/osdep.h"
#include "hw/misc/mali-csf.h"

static bool faults_one_less(uint32_t *n)
{
    if (!*n) {
        return false;
    }
    --*n;
    return true;
}

bool mali_csf_faults_drop_request(MaliCsfState *s)
{
    return faults_one_less(&s->inj.drop_acks);
}

bool mali_csf_faults_drop_sample(MaliCsfState *s)
{
    return faults_one_less(&s->inj.drop_samples);
}

bool mali_csf_faults_drop_sample_ack(MaliCsfState *s)
{
    return faults_one_less(&s->inj.drop_sample_acks);
}

bool mali_csf_faults_boot_fails(MaliCsfState *s)
{
    return faults_one_less(&s->inj.boot_fail);
}

bool mali_csf_faults_hang(MaliCsfState *s)
{
    return s->inj.hang;
}

bool mali_csf_faults_ring_full(MaliCsfState *s)
{
    return s->inj.ring_full;
}

uint64_t mali_csf_faults_delay_ns(MaliCsfState *s)
{
    return s->inj.ack_delay_ns;
}

uint32_t mali_csf_faults_insert_skew(MaliCsfState *s)
{
    return s->inj.insert_skew_on ? s->inj.insert_skew : 0;
}

uint32_t mali_csf_faults_iface(MaliCsfState *s, uint32_t version)
{
    return s->inj.iface_version ? s->inj.iface_version : version;
}

uint64_t mali_csf_faults_cores_off(MaliCsfState *s)
{
    return s->inj.cores_off;
}

bool mali_csf_faults_cores_hold(MaliCsfState *s)
{
    return s->inj.cores_hold;
}

void mali_csf_faults_reset(MaliCsfState *s)
{
    s->inj.hang = false;
}
