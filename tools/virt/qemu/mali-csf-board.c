/*
 * Arm Mali CSF GPU: the board around it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Oscillators whose rates can be set, a supply, operating points, and the
 * device tree of it all. The oscillators are those of Arm's Versatile
 * Express boards, which kernels of distributions have a driver for: they are
 * read and set through the configuration registers of a system register block.
 * Fuses, if there are any to read, are those of MediaTek's SoCs for the same
 * reason: bytes in memory, here a mask of shader cores.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/cutils.h"
#include "qemu/log.h"
#include "hw/registerfields.h"
#include "hw/arm/fdt.h"
#include "sysemu/device_tree.h"
#include "hw/misc/mali-csf.h"

/* The system registers; all others read as 0: an empty board. */
REG32(SYS_LED, 0x08)
    FIELD(SYS_LED, GATES, 0, MALI_CLKS)
    FIELD(SYS_LED, ALL, 0, 8)
REG32(SYS_CFGDATA, 0xa0)
REG32(SYS_CFGCTRL, 0xa4)
    FIELD(SYS_CFGCTRL, DEVICE, 0, 12)
    FIELD(SYS_CFGCTRL, FUNCTION, 20, 6)
    FIELD(SYS_CFGCTRL, WRITE, 30, 1)
    FIELD(SYS_CFGCTRL, START, 31, 1)
REG32(SYS_CFGSTAT, 0xa8)
    FIELD(SYS_CFGSTAT, COMPLETE, 0, 1)
    FIELD(SYS_CFGSTAT, ERROR, 1, 1)

/* Functions of the configuration registers */
#define BOARD_FUNCTION_OSC  1

#define BOARD_MIN_HZ        1000000
#define BOARD_MAX_HZ        4000000000u

static const char *const board_clk_names[MALI_CLKS] = {
    "core", "coregroup", "stacks"
};

static bool board_parse_hz(const char *text, uint32_t *hz)
{
    unsigned value;

    *hz = 0;
    if (qemu_strtoui(text, NULL, 10, &value) || value < BOARD_MIN_HZ ||
        value > BOARD_MAX_HZ) {
        return false;
    }
    *hz = value;
    return true;
}

static bool board_parse_clocks(MaliCsfState *s)
{
    g_auto(GStrv) words = g_strsplit(s->clocks, "+", -1);

    /* The driver of the power domain sets each. */
    s->clks_shared = !s->gpufreq;
    for (int i = 0; words[i]; i++) {
        char *at = strchr(words[i], '@');
        int clk = 0;

        if (at) {
            *at++ = '\0';
        }
        while (clk < MALI_CLKS && strcmp(words[i], board_clk_names[clk])) {
            clk++;
        }
        if (clk == MALI_CLKS ||
            (at && !board_parse_hz(at, &s->clk_fixed[clk]))) {
            return false;
        }
        s->clks_named |= 1u << clk;
    }
    return s->clks_named & 1u << MALI_CLK_CORE;
}

static bool board_parse_opps(MaliCsfState *s, const char *opps)
{
    g_auto(GStrv) words = g_strsplit(opps, "+", -1);
    uint32_t last = 0, hz, stacks_hz;

    for (s->n_opps = 0; words[s->n_opps]; s->n_opps++) {
        char *slash = strchr(words[s->n_opps], '/');

        if (slash) {
            *slash++ = '\0';
        }
        if (s->n_opps == MALI_MAX_OPPS || (slash && !s->gpufreq) ||
            !board_parse_hz(words[s->n_opps], &hz) || hz <= last ||
            !board_parse_hz(slash ?: words[s->n_opps], &stacks_hz)) {
            return false;
        }
        s->opp_hz[s->n_opps] = last = hz;
        s->opp_stacks_hz[s->n_opps] = stacks_hz;
    }
    return s->n_opps;
}

bool mali_csf_board_init(MaliCsfState *s, Error **errp)
{
    s->clks_named = s->clocks ? 0 : (1u << MALI_CLKS) - 1;
    if (s->clocks && !board_parse_clocks(s)) {
        error_setg(errp, "mali-csf: clocks=%s: name core, and others of "
                   "coregroup and stacks, each with @HZ if its rate is fixed, "
                   "e.g. core+coregroup@133333333", s->clocks);
        return false;
    }
    if (!board_parse_opps(s, s->opps ?: "50000000+100000000+150000000")) {
        error_setg(errp, "mali-csf: opps=%s: give 1 to %d rates in Hz, the "
                   "lowest first, e.g. 500000000+1000000000; with gpufreq, "
                   "those of stacks may follow: 500000000/400000000", s->opps,
                   MALI_MAX_OPPS);
        return false;
    }
    return true;
}

/*
 * Without one of its clocks the GPU stands still; it has forgotten all when the
 * last of them has stopped. A clock that the device tree does not have has the
 * gate of core.
 */
static void board_gates(MaliCsfState *s, uint32_t led)
{
    unsigned ran = s->clks_on, on = FIELD_EX32(led, SYS_LED, GATES);

    s->sys_led = led & R_SYS_LED_ALL_MASK;
    on &= s->clks_named;
    if (on & 1u << MALI_CLK_CORE) {
        on |= ((1u << MALI_CLKS) - 1) & ~s->clks_named;
    }
    mali_csf_csg_settle(s);
    mali_csf_clk_run(s, on);
    if (ran && !s->clks_on) {
        s->events->clocks_stopped(s);
    }
}

/* A command to an oscillator, done at once. */
static void board_configure(MaliCsfState *s, uint32_t ctrl)
{
    unsigned osc = FIELD_EX32(ctrl, SYS_CFGCTRL, DEVICE);

    if (FIELD_EX32(ctrl, SYS_CFGCTRL, FUNCTION) != BOARD_FUNCTION_OSC ||
        osc >= MALI_CLKS) {
        qemu_log_mask(LOG_GUEST_ERROR, "mali-csf: the board has nothing at "
                      "SYS_CFGCTRL 0x%x\n", ctrl);
        s->sys_cfgstat = R_SYS_CFGSTAT_COMPLETE_MASK | R_SYS_CFGSTAT_ERROR_MASK;
        return;
    }
    if (FIELD_EX32(ctrl, SYS_CFGCTRL, WRITE)) {
        /* Jobs go on at the new rate, and so do the counters. */
        mali_csf_csg_settle(s);
        for (int i = 0; i < MALI_CLKS; i++) {
            if (i == osc || s->clks_shared) {
                mali_csf_clk_set(s, i, s->sys_cfgdata);
            }
        }
    } else {
        s->sys_cfgdata = mali_csf_clk_nominal_hz(s, osc);
    }
    s->sys_cfgstat = R_SYS_CFGSTAT_COMPLETE_MASK;
}

static uint64_t board_read(void *opaque, hwaddr off, unsigned size)
{
    MaliCsfState *s = opaque;

    switch (off) {
    case A_SYS_LED:
        return s->sys_led;
    case A_SYS_CFGDATA:
        return s->sys_cfgdata;
    case A_SYS_CFGCTRL:
        return s->sys_cfgctrl;
    case A_SYS_CFGSTAT:
        return s->sys_cfgstat;
    }
    return 0;
}

static void board_write(void *opaque, hwaddr off, uint64_t val, unsigned size)
{
    MaliCsfState *s = opaque;

    switch (off) {
    case A_SYS_LED:
        board_gates(s, val);
        break;
    case A_SYS_CFGDATA:
        s->sys_cfgdata = val;
        break;
    case A_SYS_CFGCTRL:
        /* Done by the time that anyone can look: START is never seen. */
        s->sys_cfgctrl = val & ~R_SYS_CFGCTRL_START_MASK;
        if (FIELD_EX32(val, SYS_CFGCTRL, START)) {
            board_configure(s, val);
        }
        break;
    case A_SYS_CFGSTAT:
        s->sys_cfgstat = val & (R_SYS_CFGSTAT_COMPLETE_MASK |
                                R_SYS_CFGSTAT_ERROR_MASK);
        break;
    }
}

const MemoryRegionOps mali_csf_board_ops = {
    .read = board_read,
    .write = board_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 4 },
};

static uint64_t board_fuses_read(void *opaque, hwaddr off, unsigned size)
{
    MaliCsfState *s = opaque;

    return off < 8 ? s->shader_fuses >> 8 * off : 0;
}

static void board_fuses_write(void *opaque, hwaddr off, uint64_t val,
                              unsigned size)
{
    qemu_log_mask(LOG_GUEST_ERROR, "mali-csf: a write to the fuses at 0x%"
                  HWADDR_PRIx "\n", off);
}

const MemoryRegionOps mali_csf_fuses_ops = {
    .read = board_fuses_read,
    .write = board_fuses_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 4 },
    .impl = { .min_access_size = 1, .max_access_size = 4 },
};

void mali_csf_board_reset(MaliCsfState *s)
{
    s->sys_led = s->sys_cfgdata = s->sys_cfgctrl = s->sys_cfgstat = 0;
    for (int i = 0; i < MALI_CLKS; i++) {
        mali_csf_clk_set(s, i, s->clk_fixed[MALI_CLK_CORE] ?:
                               s->opp_hz[s->n_opps - 1]);
    }
    mali_csf_clk_run(s, 0);
}

/* Device tree */

static uint32_t board_node(void *fdt, const char *node,
                           const char *compatible)
{
    uint32_t phandle = qemu_fdt_alloc_phandle(fdt);

    qemu_fdt_add_subnode(fdt, node);
    if (compatible) {
        qemu_fdt_setprop_string(fdt, node, "compatible", compatible);
    }
    qemu_fdt_setprop_cell(fdt, node, "phandle", phandle);
    return phandle;
}

/* A cell of the fuses, which panthor reads in place of SHADER_PRESENT. */
static void board_fuses_fdt_add(void *fdt, const char *parent, uint64_t fuses,
                                const char *gpu)
{
    g_autofree char *node = g_strdup_printf("%s/efuse@%" PRIx64, parent, fuses);
    g_autofree char *cell = g_strdup_printf("%s/shader-present@0", node);

    board_node(fdt, node, "mediatek,efuse");
    qemu_fdt_setprop_cells(fdt, node, "reg", (uint32_t)fuses, MALI_FUSES_SIZE);
    qemu_fdt_setprop_cell(fdt, node, "#address-cells", 1);
    qemu_fdt_setprop_cell(fdt, node, "#size-cells", 1);
    qemu_fdt_setprop_cell(fdt, gpu, "nvmem-cells", board_node(fdt, cell, NULL));
    qemu_fdt_setprop_cells(fdt, cell, "reg", 0, 8);
    qemu_fdt_setprop_string(fdt, gpu, "nvmem-cell-names", "shader-present");
}

/* An oscillator behind the system registers. */
static uint32_t board_osc_fdt_add(void *fdt, const char *bus, int clk)
{
    g_autofree char *node = g_strdup_printf("%s/clock-%s", bus,
                                            board_clk_names[clk]);
    g_autofree char *name = g_strdup_printf("mali-%s", board_clk_names[clk]);
    uint32_t phandle = board_node(fdt, node, "arm,vexpress-osc");

    qemu_fdt_setprop_cell(fdt, node, "#clock-cells", 0);
    qemu_fdt_setprop_cells(fdt, node, "arm,vexpress-sysreg,func",
                           BOARD_FUNCTION_OSC, clk);
    qemu_fdt_setprop_cells(fdt, node, "freq-range", BOARD_MIN_HZ, BOARD_MAX_HZ);
    qemu_fdt_setprop_string(fdt, node, "clock-output-names", name);
    return phandle;
}

static uint32_t board_fixed_fdt_add(void *fdt, int clk, uint32_t hz)
{
    g_autofree char *node = g_strdup_printf("/mali-clock-%s",
                                            board_clk_names[clk]);
    uint32_t phandle = board_node(fdt, node, "fixed-clock");

    qemu_fdt_setprop_cell(fdt, node, "#clock-cells", 0);
    qemu_fdt_setprop_cell(fdt, node, "clock-frequency", hz);
    return phandle;
}

/* The gate of a clock is opened by the LED of its number. */
static uint32_t board_gate_fdt_add(void *fdt, int clk, uint32_t clk_ph,
                                   uint32_t led_ph)
{
    g_autofree char *node = g_strdup_printf("/mali-gate-%s",
                                            board_clk_names[clk]);
    uint32_t phandle = board_node(fdt, node, "gpio-gate-clock");

    qemu_fdt_setprop_cell(fdt, node, "#clock-cells", 0);
    qemu_fdt_setprop_cell(fdt, node, "clocks", clk_ph);
    qemu_fdt_setprop_cells(fdt, node, "enable-gpios", led_ph, clk, 0);
    return phandle;
}

/* The system registers; the phandle of their LEDs. */
static uint32_t board_sysreg_fdt_add(void *fdt, const char *node, uint64_t regs,
                                     uint32_t *leds)
{
    /* What the driver of the system registers wants to see in them. */
    static const char *const gpios[] = { "sys_mci", "sys_flash", "sys_led" };
    uint32_t phandle = board_node(fdt, node, "arm,vexpress-sysreg");

    qemu_fdt_setprop_cells(fdt, node, "reg", (uint32_t)regs, MALI_SYSREG_SIZE);
    for (int i = 0; i < ARRAY_SIZE(gpios); i++) {
        g_autofree char *n = g_strdup_printf("%s/%s", node, gpios[i]);
        g_autofree char *c = g_strdup_printf("arm,vexpress-sysreg,%s",
                                             gpios[i]);

        *leds = board_node(fdt, n, c);
        qemu_fdt_setprop(fdt, n, "gpio-controller", NULL, 0);
        qemu_fdt_setprop_cell(fdt, n, "#gpio-cells", 2);
    }
    return phandle;
}

/* Each clock that has a name: an oscillator or a fixed rate, with a gate. */
static void board_clocks_fdt_add(MaliCsfState *s, void *fdt, const char *sysreg,
                                 uint64_t regs, const char *gpu)
{
    const char *oscs = "/mali-oscillators";
    uint32_t gates[MALI_CLKS], osc = 0, leds, sysreg_ph;
    int n = 0;

    sysreg_ph = board_sysreg_fdt_add(fdt, sysreg, regs, &leds);
    board_node(fdt, oscs, "arm,vexpress,config-bus");
    qemu_fdt_setprop_cell(fdt, oscs, "arm,vexpress,config-bridge", sysreg_ph);
    qemu_fdt_setprop_cell(fdt, oscs, "arm,vexpress,site", 0);
    for (int i = 0; i < MALI_CLKS; i++) {
        if (!(s->clks_named >> i & 1)) {
            continue;
        }
        if (!s->clk_fixed[i] && (!osc || !s->clks_shared)) {
            osc = board_osc_fdt_add(fdt, oscs, i);
        }
        gates[n++] = cpu_to_be32(board_gate_fdt_add(fdt, i, s->clk_fixed[i] ?
            board_fixed_fdt_add(fdt, i, s->clk_fixed[i]) : osc, leds));
    }
    qemu_fdt_setprop(fdt, gpu, "clocks", gates, n * sizeof(gates[0]));
}

static void board_opps_fdt_add(MaliCsfState *s, void *fdt, const char *gpu)
{
    const char *supply = "/mali-supply", *table = "/mali-opp-table";

    qemu_fdt_setprop_cell(fdt, gpu, "mali-supply",
                          board_node(fdt, supply, "regulator-fixed"));
    qemu_fdt_setprop_string(fdt, supply, "regulator-name", "vdd-gpu");
    qemu_fdt_setprop_cell(fdt, supply, "regulator-min-microvolt", 750000);
    qemu_fdt_setprop_cell(fdt, supply, "regulator-max-microvolt", 750000);
    qemu_fdt_setprop(fdt, supply, "regulator-always-on", NULL, 0);

    qemu_fdt_setprop_cell(fdt, gpu, "operating-points-v2",
                          board_node(fdt, table, "operating-points-v2"));
    for (int i = 0; i < s->n_opps; i++) {
        g_autofree char *n = g_strdup_printf("%s/opp-%u", table, s->opp_hz[i]);

        qemu_fdt_add_subnode(fdt, n);
        qemu_fdt_setprop_u64(fdt, n, "opp-hz", s->opp_hz[i]);
        qemu_fdt_setprop_cell(fdt, n, "opp-microvolt", 750000);
    }
}

/* A power domain that has the clocks and the operating points. */
static void board_gpufreq_fdt_add(MaliCsfState *s, void *fdt, const char *node,
                                  const uint64_t *mmio, const char *gpu)
{
    uint32_t phandle = board_node(fdt, node, "panthor-perf,mali-gpufreq");
    uint32_t opps[2 * MALI_MAX_OPPS], clks[2 * MALI_CLKS];
    int n = 0;

    for (int i = 0; i < s->n_opps; i++) {
        opps[2 * i] = cpu_to_be32(s->opp_hz[i]);
        opps[2 * i + 1] = cpu_to_be32(s->opp_stacks_hz[i]);
    }
    for (int i = 0; i < MALI_CLKS; i++) {
        if (s->clks_named >> i & 1) {
            clks[n++] = cpu_to_be32(phandle);
            clks[n++] = cpu_to_be32(i);
        }
    }
    qemu_fdt_setprop_cells(fdt, node, "reg",
                           (uint32_t)mmio[MALI_MMIO_SYSREG], MALI_SYSREG_SIZE,
                           (uint32_t)mmio[MALI_MMIO_BENCH], MALI_BENCH_SIZE);
    qemu_fdt_setprop(fdt, node, "opps", opps,
                     2 * s->n_opps * sizeof(opps[0]));
    qemu_fdt_setprop_cell(fdt, node, "#clock-cells", 1);
    qemu_fdt_setprop_cell(fdt, node, "#power-domain-cells", 0);
    qemu_fdt_setprop(fdt, gpu, "clocks", clks, n * sizeof(clks[0]));
    qemu_fdt_setprop_cell(fdt, gpu, "power-domains", phandle);
}

static void board_clock_names_fdt_add(MaliCsfState *s, void *fdt,
                                      const char *gpu)
{
    g_autoptr(GString) names = g_string_new(NULL);

    for (int i = 0; i < MALI_CLKS; i++) {
        if (s->clks_named >> i & 1) {
            g_string_append_len(names, board_clk_names[i],
                                strlen(board_clk_names[i]) + 1);
        }
    }
    qemu_fdt_setprop(fdt, gpu, "clock-names", names->str, names->len);
}

/*
 * The board around the GPU: oscillators behind system registers, a gate behind
 * each, a fixed supply, operating points; the GPU's node; the bench page's.
 */
void mali_csf_board_fdt_add(MaliCsfState *s, void *fdt, const char *parent,
                            const uint64_t *mmio, const int *irqs)
{
    uint64_t regs = mmio[MALI_MMIO_REGS], bench = mmio[MALI_MMIO_BENCH];
    uint64_t sysreg = mmio[MALI_MMIO_SYSREG];
    static const char irq_names[] = "job\0mmu\0gpu";
    const char *compatible = s->compatible ?: s->model->compatible;
    g_autofree char *node = g_strdup_printf("%s/gpu@%" PRIx64, parent, regs);
    g_autofree char *bnode = g_strdup_printf("%s/bench@%" PRIx64, parent,
                                             bench);
    g_autofree char *snode = g_strdup_printf("%s/sysreg@%" PRIx64, parent,
                                             sysreg);
    g_autofree char *compat = NULL;
    int compat_len;

    if (s->board) {
        qemu_fdt_setprop_string(fdt, "/", "model", s->board);
    }

    qemu_fdt_add_subnode(fdt, node);
    if (compatible) {
        compat = g_strdup_printf("%s%c%s", compatible, 0,
                                 "arm,mali-valhall-csf");
        compat_len = strlen(compatible) + 1;
    } else {
        compat = g_strdup("arm,mali-valhall-csf");
        compat_len = 0;
    }
    compat_len += sizeof("arm,mali-valhall-csf");
    qemu_fdt_setprop(fdt, node, "compatible", compat, compat_len);
    qemu_fdt_setprop_cells(fdt, node, "reg", (uint32_t)regs, MALI_REGS_SIZE);
    qemu_fdt_setprop_cells(fdt, node, "interrupts",
        GIC_FDT_IRQ_TYPE_SPI, irqs[MALI_IRQ_JOB], GIC_FDT_IRQ_FLAGS_LEVEL_HI,
        GIC_FDT_IRQ_TYPE_SPI, irqs[MALI_IRQ_MMU], GIC_FDT_IRQ_FLAGS_LEVEL_HI,
        GIC_FDT_IRQ_TYPE_SPI, irqs[MALI_IRQ_GPU], GIC_FDT_IRQ_FLAGS_LEVEL_HI);
    qemu_fdt_setprop(fdt, node, "interrupt-names", irq_names,
                     sizeof(irq_names));
    board_clock_names_fdt_add(s, fdt, node);
    if (s->gpufreq) {
        board_gpufreq_fdt_add(s, fdt, snode, mmio, node);
    } else {
        board_clocks_fdt_add(s, fdt, snode, sysreg, node);
        board_opps_fdt_add(s, fdt, node);
    }
    /* Said either way, whatever the nodes above may say. */
    qemu_fdt_setprop(fdt, node, s->coherent ? "dma-coherent"
                                            : "dma-noncoherent", NULL, 0);
    if (s->shader_fuses != UINT64_MAX) {
        board_fuses_fdt_add(fdt, parent, mmio[MALI_MMIO_FUSES], node);
    }

    qemu_fdt_add_subnode(fdt, bnode);
    qemu_fdt_setprop_string(fdt, bnode, "compatible",
                            "panthor-perf,mali-bench");
    qemu_fdt_setprop_cells(fdt, bnode, "reg", (uint32_t)bench,
                           MALI_BENCH_SIZE);
}
