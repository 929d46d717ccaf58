/*
 * Arm Mali CSF GPU: the ledger
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A file with every firmware sample as it was written; and one with a line
 * for the begin and the end of each job.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/bswap.h"
#include "qemu/error-report.h"
#include "qemu/notify.h"
#include "sysemu/sysemu.h"
#include "hw/misc/mali-csf-counters.h"

struct MaliLedger {
    FILE *file;         /* NULL when it cannot be written any more */
    uint64_t left;      /* bytes that it may still have */
    char *name;
    Notifier exit;
};

static void ledger_failed(MaliLedger *l, const char *why)
{
    error_report("mali-csf: cannot write to ledger '%s': %s; it ends here",
                 l->name, why);
    /* A ledger with a hole would make a right driver look wrong. */
    fclose(l->file);
    l->file = NULL;
}

static void ledger_flush(MaliLedger *l)
{
    if (l && l->file && fflush(l->file)) {
        ledger_failed(l, strerror(errno));
    }
}

void mali_csf_ledger_flush(MaliCsfState *s)
{
    ledger_flush(s->ledger);
    ledger_flush(s->job_ledger);
}

static void ledger_close(MaliLedger *l)
{
    if (l->file && fclose(l->file)) {
        error_report("mali-csf: cannot write to ledger '%s': %s", l->name,
                     strerror(errno));
    }
    l->file = NULL;
}

static void ledger_at_exit(Notifier *n, void *data)
{
    ledger_close(container_of(n, MaliLedger, exit));
}

/* False if there is none, or it has no room for so much more. */
static bool ledger_take(MaliLedger *l, uint64_t size)
{
    if (!l || !l->file) {
        return false;
    }
    if (l->left < size) {
        ledger_failed(l, "it has as much as ledger_max allows");
        return false;
    }
    l->left -= size;
    return true;
}

void mali_csf_ledger_write(MaliCsfState *s, const MaliLedgerRecord *r)
{
    MaliLedger *l = s->ledger;
    uint8_t head[32];

    if (!ledger_take(l, sizeof(head) + r->size)) {
        return;
    }
    stq_le_p(head, r->sequence);
    stl_le_p(head + 8, r->epoch);
    stl_le_p(head + 12, r->insert);
    stq_le_p(head + 16, r->timestamp);
    stl_le_p(head + 24, r->reason);
    stl_le_p(head + 28, r->size);
    if (fwrite(head, sizeof(head), 1, l->file) != 1 ||
        (r->size && fwrite(r->blocks, r->size, 1, l->file) != 1)) {
        ledger_failed(l, strerror(errno));
    }
}

void mali_csf_ledger_job(MaliCsfState *s, const char *what, uint64_t vm,
                         uint64_t ring)
{
    MaliLedger *l = s->job_ledger;
    char line[80];
    int size;

    if (!l) {
        return;
    }
    size = snprintf(line, sizeof(line),
                    "%s %" PRIu64 " %" PRIx64 " %" PRIx64 "\n", what,
                    mali_csf_clk_timestamp(s), vm, ring);
    if (ledger_take(l, size) && fwrite(line, size, 1, l->file) != 1) {
        ledger_failed(l, strerror(errno));
    }
}

/* Returns NULL without a name, and if it cannot be made. */
static MaliLedger *ledger_open(const char *name, uint64_t max, Error **errp)
{
    MaliLedger *l;
    FILE *f;

    if (!name) {
        return NULL;
    }
    f = fopen(name, "wb");
    if (!f) {
        error_setg_errno(errp, errno, "mali-csf: cannot create ledger '%s'",
                         name);
        return NULL;
    }
    setvbuf(f, NULL, _IOFBF, 1 << 20);
    l = g_new0(MaliLedger, 1);
    l->file = f;
    l->left = max;
    l->name = g_strdup(name);
    l->exit.notify = ledger_at_exit;
    qemu_add_exit_notifier(&l->exit);
    return l;
}

bool mali_csf_ledger_init(MaliCsfState *s, Error **errp)
{
    ERRP_GUARD();

    s->ledger = ledger_open(s->ledger_name, s->ledger_max, errp);
    if (!*errp) {
        s->job_ledger = ledger_open(s->job_ledger_name, s->ledger_max,
                                    errp);
    }
    return !*errp;
}

static void ledger_free(MaliLedger *l)
{
    if (l) {
        qemu_remove_exit_notifier(&l->exit);
        ledger_close(l);
        g_free(l->name);
        g_free(l);
    }
}

void mali_csf_ledger_exit(MaliCsfState *s)
{
    ledger_free(s->ledger);
    ledger_free(s->job_ledger);
    s->ledger = s->job_ledger = NULL;
}
