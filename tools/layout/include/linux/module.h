/* SPDX-License-Identifier: MIT */
/* A program is no module. */
#define MODULE_LICENSE(text)
#define MODULE_DESCRIPTION(text)
#define MODULE_IMPORT_NS(name)
