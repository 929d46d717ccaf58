/*
 * Arm Mali CSF GPU: the ledger
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A file with every firmware sample as it was written.
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

void mali_csf_ledger_flush(MaliCsfState *s)
{
    MaliLedger *l = s->ledger;

    if (l && l->file && fflush(l->file)) {
        ledger_failed(l, strerror(errno));
    }
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

void mali_csf_ledger_write(MaliCsfState *s, const MaliLedgerRecord *r)
{
    MaliLedger *l = s->ledger;
    uint8_t head[32];

    if (!l || !l->file) {
        return;
    }
    if (l->left < sizeof(head) + r->size) {
        ledger_failed(l, "it has as much as ledger_max allows");
        return;
    }
    l->left -= sizeof(head) + r->size;
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

bool mali_csf_ledger_init(MaliCsfState *s, const char *name, Error **errp)
{
    MaliLedger *l;
    FILE *f;

    if (!name) {
        return true;
    }
    f = fopen(name, "wb");
    if (!f) {
        error_setg_errno(errp, errno, "mali-csf: cannot create ledger '%s'",
                         name);
        return false;
    }
    setvbuf(f, NULL, _IOFBF, 1 << 20);
    l = g_new0(MaliLedger, 1);
    l->file = f;
    l->left = s->ledger_max;
    l->name = g_strdup(name);
    l->exit.notify = ledger_at_exit;
    qemu_add_exit_notifier(&l->exit);
    s->ledger = l;
    return true;
}

void mali_csf_ledger_exit(MaliCsfState *s)
{
    MaliLedger *l = s->ledger;

    if (l) {
        qemu_remove_exit_notifier(&l->exit);
        ledger_close(l);
        g_free(l->name);
        g_free(l);
        s->ledger = NULL;
    }
}
