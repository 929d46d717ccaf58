/*
 * Arm Mali CSF GPU: the board around it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Three oscillators whose rates can be set, a supply, three operating points,
 * and the device tree of it all. The oscillators are those of Arm's Versatile
 * Express boards, which kernels of distributions have a driver for: they are
 * read and set through the configuration registers of a system register block.
 * Fuses, if there are any to read, are those of MediaTek's SoCs for the same
 * reason: bytes in memory, here a mask of shader cores.
 */
#include "qemu/osdep.h"
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

#define BOARD_DEFAULT_HZ    150000000
#define BOARD_MIN_HZ        1000000
#define BOARD_MAX_HZ        4000000000u

static const char *const board_clk_names[MALI_CLKS] = {
    "core", "coregroup", "stacks"
};

/*
 * Without one of its clocks the GPU stands still; it has forgotten all when the
 * last of them has stopped.
 */
static void board_gates(MaliCsfState *s, uint32_t led)
{
    unsigned ran = s->clks_on;

    s->sys_led = led & R_SYS_LED_ALL_MASK;
    mali_csf_csg_settle(s);
    mali_csf_clk_run(s, FIELD_EX32(led, SYS_LED, GATES));
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
        mali_csf_clk_set(s, osc, s->sys_cfgdata);
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
        mali_csf_clk_set(s, i, BOARD_DEFAULT_HZ);
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

/*
 * The board around the GPU: three oscillators behind system registers, a gate
 * behind each, a fixed supply, three operating points; the GPU's node; the
 * bench page's. The gates are opened by the first LEDs of the board.
 */
void mali_csf_board_fdt_add(MaliCsfState *s, void *fdt, const char *parent,
                            const uint64_t *mmio, const int *irqs)
{
    uint64_t regs = mmio[MALI_MMIO_REGS], bench = mmio[MALI_MMIO_BENCH];
    uint64_t sysreg = mmio[MALI_MMIO_SYSREG];
    static const uint32_t opp_hz[] = { 50000000, 100000000, 150000000 };
    static const char irq_names[] = "job\0mmu\0gpu";
    static const char clk_names[] = "core\0coregroup\0stacks";
    /* What the driver of the system registers wants to see in them. */
    static const char *const gpios[] = { "sys_led", "sys_mci", "sys_flash" };
    const char *supply = "/mali-supply", *opp = "/mali-opp-table";
    const char *oscs = "/mali-oscillators";
    uint32_t sysreg_ph, supply_ph, opp_ph, gpio_ph, clk_ph[MALI_CLKS];
    uint32_t led_ph = 0;
    g_autofree char *node = g_strdup_printf("%s/gpu@%" PRIx64, parent, regs);
    g_autofree char *bnode = g_strdup_printf("%s/bench@%" PRIx64, parent,
                                             bench);
    g_autofree char *snode = g_strdup_printf("%s/sysreg@%" PRIx64, parent,
                                             sysreg);
    g_autofree char *compat = NULL;
    int compat_len;

    supply_ph = board_node(fdt, supply, "regulator-fixed");
    qemu_fdt_setprop_string(fdt, supply, "regulator-name", "vdd-gpu");
    qemu_fdt_setprop_cell(fdt, supply, "regulator-min-microvolt", 750000);
    qemu_fdt_setprop_cell(fdt, supply, "regulator-max-microvolt", 750000);
    qemu_fdt_setprop(fdt, supply, "regulator-always-on", NULL, 0);

    opp_ph = board_node(fdt, opp, "operating-points-v2");
    for (int i = 0; i < ARRAY_SIZE(opp_hz); i++) {
        g_autofree char *n = g_strdup_printf("%s/opp-%u", opp, opp_hz[i]);

        qemu_fdt_add_subnode(fdt, n);
        qemu_fdt_setprop_u64(fdt, n, "opp-hz", opp_hz[i]);
        qemu_fdt_setprop_cell(fdt, n, "opp-microvolt", 750000);
    }

    sysreg_ph = board_node(fdt, snode, "arm,vexpress-sysreg");
    qemu_fdt_setprop_cells(fdt, snode, "reg", (uint32_t)sysreg,
                           MALI_SYSREG_SIZE);
    for (int i = 0; i < ARRAY_SIZE(gpios); i++) {
        g_autofree char *n = g_strdup_printf("%s/%s", snode, gpios[i]);
        g_autofree char *c = g_strdup_printf("arm,vexpress-sysreg,%s",
                                             gpios[i]);

        gpio_ph = board_node(fdt, n, c);
        if (!i) {
            led_ph = gpio_ph;
        }
        qemu_fdt_setprop(fdt, n, "gpio-controller", NULL, 0);
        qemu_fdt_setprop_cell(fdt, n, "#gpio-cells", 2);
    }

    board_node(fdt, oscs, "arm,vexpress,config-bus");
    qemu_fdt_setprop_cell(fdt, oscs, "arm,vexpress,config-bridge", sysreg_ph);
    qemu_fdt_setprop_cell(fdt, oscs, "arm,vexpress,site", 0);
    for (int i = 0; i < MALI_CLKS; i++) {
        g_autofree char *n = g_strdup_printf("%s/clock-%s", oscs,
                                             board_clk_names[i]);
        g_autofree char *name = g_strdup_printf("mali-%s", board_clk_names[i]);

        clk_ph[i] = board_node(fdt, n, "arm,vexpress-osc");
        qemu_fdt_setprop_cell(fdt, n, "#clock-cells", 0);
        qemu_fdt_setprop_cells(fdt, n, "arm,vexpress-sysreg,func",
                               BOARD_FUNCTION_OSC, i);
        qemu_fdt_setprop_cells(fdt, n, "freq-range", BOARD_MIN_HZ,
                               BOARD_MAX_HZ);
        qemu_fdt_setprop_string(fdt, n, "clock-output-names", name);
    }
    for (int i = 0; i < MALI_CLKS; i++) {
        g_autofree char *n = g_strdup_printf("/mali-gate-%s",
                                             board_clk_names[i]);
        uint32_t gate_ph = board_node(fdt, n, "gpio-gate-clock");

        qemu_fdt_setprop_cell(fdt, n, "#clock-cells", 0);
        qemu_fdt_setprop_cell(fdt, n, "clocks", clk_ph[i]);
        qemu_fdt_setprop_cells(fdt, n, "enable-gpios", led_ph, i, 0);
        clk_ph[i] = gate_ph;
    }

    qemu_fdt_add_subnode(fdt, node);
    if (s->model->compatible) {
        compat = g_strdup_printf("%s%c%s", s->model->compatible, 0,
                                 "arm,mali-valhall-csf");
        compat_len = strlen(s->model->compatible) + 1;
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
    qemu_fdt_setprop_cells(fdt, node, "clocks", clk_ph[0], clk_ph[1],
                           clk_ph[2]);
    qemu_fdt_setprop(fdt, node, "clock-names", clk_names, sizeof(clk_names));
    qemu_fdt_setprop_cell(fdt, node, "mali-supply", supply_ph);
    qemu_fdt_setprop_cell(fdt, node, "operating-points-v2", opp_ph);
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
