/*
 * Arm Mali CSF GPU: time, clocks, cycles
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "hw/misc/mali-csf.h"

int64_t mali_csf_clk_now(void)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

uint64_t mali_csf_clk_timestamp_at(MaliCsfState *s, int64_t ns)
{
    return ns / s->count_period_ns + s->timestamp_offset + s->timestamp_ahead;
}

uint64_t mali_csf_clk_timestamp(MaliCsfState *s)
{
    return mali_csf_clk_timestamp_at(s, mali_csf_clk_now());
}

uint64_t mali_csf_clk_timestamp_reg(MaliCsfState *s)
{
    return s->timestamp_gated && !s->cycle_enabled ? 0 :
           mali_csf_clk_timestamp(s);
}

int64_t mali_csf_clk_latency(MaliCsfState *s, int64_t ns, unsigned doublings)
{
    if (!s->latency_random) {
        return ns;
    }
    /* xorshift32 */
    s->latency_random ^= s->latency_random << 13;
    s->latency_random ^= s->latency_random >> 17;
    s->latency_random ^= s->latency_random << 5;
    return ns << s->latency_random % (doublings + 1);
}

/* Clocks */

/* How long until it is looked at again whether they run. */
#define RETRY_NS        (10 * SCALE_US)

bool mali_csf_clk_running(const MaliCsfState *s)
{
    return s->clks_on == (1u << MALI_CLKS) - 1;
}

bool mali_csf_clk_waits(MaliCsfState *s, QEMUTimer *timer)
{
    if (mali_csf_clk_running(s)) {
        return false;
    }
    /* What has lost all of its clocks has nothing under way any more. */
    if (s->clks_on) {
        timer_mod(timer, mali_csf_clk_now() + RETRY_NS);
    }
    return true;
}

uint64_t mali_csf_clk_hz(MaliCsfState *s, int clk)
{
    return s->clk[clk].hz;
}

uint32_t mali_csf_clk_nominal_hz(MaliCsfState *s, int clk)
{
    return s->clk[clk].nominal_hz;
}

uint64_t mali_csf_clk_muldiv(uint64_t a, uint64_t b, uint64_t c)
{
    return (__uint128_t)a * b / c;
}

/* No earlier than the clock's last change. */
uint64_t mali_csf_clk_cycles_at(MaliCsfState *s, int clk, int64_t ns)
{
    MaliClk *c = &s->clk[clk];

    if (!(s->clks_on >> clk & 1)) {
        return c->base_cycles;
    }
    return c->base_cycles + mali_csf_clk_muldiv(ns - c->base_ns, c->hz,
                                                s->second_ns);
}

uint64_t mali_csf_clk_cycles(MaliCsfState *s, int clk)
{
    return mali_csf_clk_cycles_at(s, clk, mali_csf_clk_now());
}

int64_t mali_csf_clk_cycles_to_ns(MaliCsfState *s, int clk, uint64_t cycles)
{
    uint64_t hz = MAX(s->clk[clk].hz, 1);
    __uint128_t ns = (__uint128_t)cycles * s->second_ns + hz - 1;

    ns /= hz;
    return ns > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)ns;
}

void mali_csf_clk_set(MaliCsfState *s, int clk, uint32_t hz)
{
    MaliClk *c = &s->clk[clk];

    c->base_cycles = mali_csf_clk_cycles(s, clk);
    c->base_ns = mali_csf_clk_now();
    c->nominal_hz = hz;
    c->hz = (uint64_t)hz * s->real_rate_now / 1000;
}

void mali_csf_clk_set_real_rate(MaliCsfState *s, uint32_t thousandths)
{
    s->real_rate_now = thousandths;
    for (int i = 0; i < MALI_CLKS; i++) {
        mali_csf_clk_set(s, i, s->clk[i].nominal_hz);
    }
}

void mali_csf_clk_run(MaliCsfState *s, unsigned on)
{
    for (int i = 0; i < MALI_CLKS; i++) {
        mali_csf_clk_set(s, i, s->clk[i].nominal_hz);
    }
    s->clks_on = on;
}

uint64_t mali_csf_clk_cycle_total(MaliCsfState *s)
{
    if (!s->cycle_enabled || !s->cycle_count) {
        return s->cycle_total;
    }
    return s->cycle_total + mali_csf_clk_cycles(s, MALI_CLK_CORE) -
           s->cycle_start;
}

uint64_t mali_csf_clk_cycle_count(MaliCsfState *s)
{
    return mali_csf_clk_cycle_total(s) - s->cycle_zero;
}

void mali_csf_clk_cycle_enable(MaliCsfState *s, bool on)
{
    s->cycle_total = mali_csf_clk_cycle_total(s);
    s->cycle_start = mali_csf_clk_cycles(s, MALI_CLK_CORE);
    s->cycle_enabled = on;
}

void mali_csf_clk_cycle_reset(MaliCsfState *s)
{
    mali_csf_clk_cycle_enable(s, false);
    s->cycle_zero = s->cycle_total;
}
