/*
 * A TCG plugin that counts instructions by address, between two marks
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 *   -plugin FILE,out=FILE
 *
 * tools/virt/profile runs QEMU with this. A mark is an instruction that does
 * nothing (HINT, with a number nobody else uses); tools/virt/guest/mark.h has
 * them. Everything that runs in the machine from the begin of a run to its end
 * is counted: interrupts and other tasks, too. One processor is assumed.
 *
 * When QEMU ends, FILE gets these lines:
 *
 *   runs N            how often a run began and ended
 *   median N          instructions of a run
 *   least N
 *   most N
 *   user N            of all runs, at addresses of user space
 *   ADDRESS N         of all runs, at this address of the kernel (hexadecimal)
 *
 * If no run has ended, these are of the whole command.
 */
#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <qemu-plugin.h>

#include "../guest/mark.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

#define HINT(n)     (0xd503201fu | (n) << 5)
#define IS_KERNEL(a) ((a) >> 63)

/* Instructions at one address, or of user space. */
typedef struct Counter {
    uint64_t in_runs;
    uint64_t in_command;
} Counter;

static char *out_path;
static GHashTable *counters;    /* of the kernel, by address */
static Counter user;
static bool run_open, command_open;
static uint64_t run_count, command_count;
static GArray *runs;            /* instructions of each */

static void count_insn(unsigned int cpu, void *opaque)
{
    Counter *c = opaque;

    if (run_open) {
        c->in_runs++;
        run_count++;
    }
    if (command_open) {
        c->in_command++;
        command_count++;
    }
}

static void run_begins(unsigned int cpu, void *opaque)
{
    run_open = true;
    run_count = 0;
}

static void run_ends(unsigned int cpu, void *opaque)
{
    if (run_open) {
        g_array_append_val(runs, run_count);
    }
    run_open = false;
}

static void command_begins(unsigned int cpu, void *opaque)
{
    command_open = true;
}

static void command_ends(unsigned int cpu, void *opaque)
{
    command_open = false;
}

static Counter *counter_at(uint64_t vaddr)
{
    Counter *c;

    if (!IS_KERNEL(vaddr)) {
        return &user;
    }
    c = g_hash_table_lookup(counters, &vaddr);
    if (!c) {
        uint64_t *key = g_new(uint64_t, 1);

        *key = vaddr;
        c = g_new0(Counter, 1);
        g_hash_table_insert(counters, key, c);
    }
    return c;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    static const struct {
        uint32_t insn;
        qemu_plugin_vcpu_udata_cb_t cb;
    } marks[] = {
        { HINT(MARK_RUN_BEGINS), run_begins },
        { HINT(MARK_RUN_ENDS), run_ends },
        { HINT(MARK_COMMAND_BEGINS), command_begins },
        { HINT(MARK_COMMAND_ENDS), command_ends },
    };

    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        qemu_plugin_vcpu_udata_cb_t cb = count_insn;
        uint32_t word = 0;

        if (qemu_plugin_insn_size(insn) == sizeof(word)) {
            memcpy(&word, qemu_plugin_insn_data(insn), sizeof(word));
        }
        for (size_t m = 0; m < G_N_ELEMENTS(marks); m++) {
            if (GUINT32_FROM_LE(word) == marks[m].insn) {
                cb = marks[m].cb;
            }
        }
        qemu_plugin_register_vcpu_insn_exec_cb(
            insn, cb, QEMU_PLUGIN_CB_NO_REGS,
            counter_at(qemu_plugin_insn_vaddr(insn)));
    }
}

static int by_value(gconstpointer a, gconstpointer b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void write_counts(FILE *f)
{
    bool whole = !runs->len;
    GHashTableIter i;
    gpointer key, value;

    if (whole) {
        g_array_append_val(runs, command_count);
    }
    g_array_sort(runs, by_value);
    fprintf(f, "runs %u\nmedian %" PRIu64 "\nleast %" PRIu64 "\nmost %" PRIu64
            "\n", runs->len, g_array_index(runs, uint64_t, runs->len / 2),
            g_array_index(runs, uint64_t, 0),
            g_array_index(runs, uint64_t, runs->len - 1));
    fprintf(f, "user %" PRIu64 "\n", whole ? user.in_command : user.in_runs);
    g_hash_table_iter_init(&i, counters);
    while (g_hash_table_iter_next(&i, &key, &value)) {
        Counter *c = value;
        uint64_t n = whole ? c->in_command : c->in_runs;

        if (n) {
            fprintf(f, "%016" PRIx64 " %" PRIu64 "\n", *(uint64_t *)key, n);
        }
    }
}

static void ended(qemu_plugin_id_t id, void *opaque)
{
    FILE *f = fopen(out_path, "w");

    if (f) {
        write_counts(f);
    }
    if (!f || fclose(f)) {
        fprintf(stderr, "profile: %s: %s\n", out_path, strerror(errno));
    }
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
                                           const qemu_info_t *info, int argc,
                                           char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (!g_str_has_prefix(argv[i], "out=")) {
            fprintf(stderr, "profile: there is no argument '%s'\n", argv[i]);
            return -1;
        }
        out_path = g_strdup(argv[i] + strlen("out="));
    }
    if (!out_path) {
        fprintf(stderr, "profile: out=FILE is missing\n");
        return -1;
    }
    if (info->system.smp_vcpus != 1) {
        fprintf(stderr, "profile: there has to be one processor\n");
        return -1;
    }
    counters = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                     g_free);
    runs = g_array_new(false, false, sizeof(uint64_t));
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
