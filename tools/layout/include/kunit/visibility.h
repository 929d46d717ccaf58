/* SPDX-License-Identifier: MIT */
#ifndef LAYOUT_KUNIT_VISIBILITY_H
#define LAYOUT_KUNIT_VISIBILITY_H

/* There are no modules in userspace. */
#define EXPORT_SYMBOL_IF_KUNIT(symbol) _Static_assert(1, #symbol)

#endif
