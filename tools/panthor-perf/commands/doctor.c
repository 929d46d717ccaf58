// SPDX-License-Identifier: MIT
/*
 * panthor-perf doctor: diagnose setup problems. Each check prints one line, and the next step if something is to
 * be done. The checks are in order of dependency.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "board.h"
#include "commands.h"
#include "common.h"
#include "rates.h"

/* Larger than any module. */
#define MAX_MODULE (64 << 20)

/* Time for which the GPU's clock is compared with the clock framework. */
#define MEASURE_US 200000

#define BUILD_ID ".note.gnu.build-id"
/* In the modinfo of a panthor that has counters without our fixes. */
#define NO_FIXES "panthor_perf_fixes=none"
#define LOADED "/sys/module/panthor"
#define EFI_SECURE_BOOT "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

enum state { FINE, TO_DO, UNKNOWN };

struct doctor {
	const char *device;
	bool json;

	struct json_object *findings;
	unsigned int to_do;

	char release[128];
	/* Results of opening the GPU, and a session. */
	enum pperf_error gpu_error, session_error;
	char *gpu_message, *session_message;
	char gpu[128];
	struct board board;
	struct rates clock;
	bool sysfs;
	/* Known of the loaded panthor. */
	bool no_fixes;
};

static const struct argp_option options[] = {
	{ "json", 'j', NULL, 0, "Print JSON", 0 },
	{}
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct doctor *d = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &d->device;
		return 0;
	case 'j':
		d->json = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument: %s", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* Print the finding of a check, and the next step or NULL. */
static void tell(struct doctor *d, const char *name, enum state state, const char *next, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

static void tell(struct doctor *d, const char *name, enum state state, const char *next, const char *format, ...)
{
	static const char *const words[] = { [FINE] = "ok", [TO_DO] = "to do", [UNKNOWN] = "unknown" };
	struct json_object *finding;
	char what[768];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	d->to_do += state == TO_DO;
	if (d->json) {
		finding = json_object_new_object();
		json_object_object_add(finding, "of", json_object_new_string(name));
		json_object_object_add(finding, "state", json_object_new_string(words[state]));
		json_object_object_add(finding, "finding", json_object_new_string(what));
		json_object_object_add(finding, "next", next ? json_object_new_string(next) : NULL);
		json_object_array_add(d->findings, finding);
		return;
	}
	printf("%-8s %-11s ", words[state], name);
	print_text(stdout, what);
	putchar('\n');
	if (next) {
		printf("%-8s %-11s -> ", "", "");
		print_text(stdout, next);
		putchar('\n');
	}
}

/* The first line of a file, without its end. */
static bool first_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");
	bool read = file && fgets(line, size, file);

	if (file)
		fclose(file);
	if (read)
		line[strcspn(line, "\n")] = '\0';
	return read;
}

/* Find the last of the files that match a pattern. */
static bool find(const char *pattern, char *path, size_t size)
{
	glob_t found;

	if (glob(pattern, 0, NULL, &found))
		return false;
	snprintf(path, size, "%s", found.gl_pathv[found.gl_pathc - 1]);
	globfree(&found);
	return true;
}

/* Return "/lib/modules/RELEASE/NAME". */
static const char *of_kernel(const struct doctor *d, const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "/lib/modules/%s/%s", d->release, name);
	return path;
}

static bool lacks_interface(const struct doctor *d)
{
	return d->gpu_error == PPERF_ERROR_NO_KERNEL_SUPPORT || d->session_error == PPERF_ERROR_NO_KERNEL_SUPPORT;
}

/* Return true if panthor is loaded and drives the GPU. */
static bool driver_answers(const struct doctor *d)
{
	return !d->gpu_error || lacks_interface(d) || d->gpu_error == PPERF_ERROR_NO_COUNTERS ||
	       d->gpu_error == PPERF_ERROR_OTHER_INTERFACE;
}

/* Return true, with a line that says so, if /sys is needed and not mounted. */
static bool lacks_sysfs(struct doctor *d, const char *name)
{
	if (!d->sysfs)
		tell(d, name, UNKNOWN, "run panthor-perf doctor on the host, outside of the container",
		     "/sys is not mounted");
	return !d->sysfs;
}

/* Find out at which rate the GPU runs, if it has power. */
static void measure_clock(struct doctor *d, struct pperf_gpu *gpu, struct pperf_session *session)
{
	const struct pperf_sample *sample;
	struct rates_meter meter = {};

	rates_read(&meter, gpu, true);
	if (pperf_session_start(session, 0))
		return;
	usleep(MEASURE_US);
	while (!pperf_session_next(session, &sample) && sample)
		rates_add(&meter, sample);
	rates_read(&meter, gpu, true);
	d->clock = rates_of(&meter);
}

static void try_to_count(struct doctor *d)
{
	struct pperf_session_options options = { .size = sizeof(options), .period_ns = MEASURE_US * 1000ull / 20 };
	struct pperf_session *session;
	struct pperf_gpu *gpu;

	d->gpu_error = pperf_gpu_open(d->device, &gpu);
	if (d->gpu_error) {
		d->gpu_message = strdup(pperf_message());
		board_read(&d->board, NULL);
		return;
	}
	snprintf(d->gpu, sizeof(d->gpu), "%s, %s, %u shader cores", pperf_gpu_info(gpu)->name,
		 pperf_gpu_info(gpu)->node, pperf_gpu_info(gpu)->cores);
	board_read(&d->board, pperf_gpu_info(gpu)->sysfs);
	/* Opening a session checks the permission. */
	options.masks.bits[1][0] = 1ull << PPERF_FIRST_COUNTER;
	d->session_error = pperf_session_open(gpu, &options, &session);
	if (d->session_error) {
		d->session_message = strdup(pperf_message());
	} else {
		measure_clock(d, gpu, session);
		pperf_session_close(session);
	}
	pperf_gpu_close(gpu);
}

/* For bug reports: nothing of it is right or wrong. */
static void look_at_board(struct doctor *d)
{
	const struct board *b = &d->board;

	tell(d, "board", b->name[0] ? FINE : UNKNOWN, NULL, "%s%s%s%s%s%s%s", b->name[0] ? b->name : "unknown",
	     b->compatible[0] ? ", " : "", b->compatible, b->clocks[0] ? "; clocks " : "", b->clocks,
	     b->memory[0] ? "; memory " : "", b->memory);
}

static void look_at_kernel(struct doctor *d)
{
	char version[256] = "unknown version";
	unsigned int major = 0, minor = 0;

	first_line("/proc/sys/kernel/version", version, sizeof(version));
	if (sscanf(d->release, "%u.%u", &major, &minor) == 2 && (major < 6 || (major == 6 && minor < 10)))
		tell(d, "kernel", TO_DO, "boot one of the kernels listed in board.rst (in panthor-perf's documentation)",
		     "Linux %s is too old: panthor is in Linux 6.10 and later; %s", d->release, version);
	else
		tell(d, "kernel", FINE, NULL, "Linux %s, %s", d->release, version);
}

/* Find the sysfs directory of a GPU that panthor supports. */
static bool find_device(char *path, size_t size)
{
	char line[1024];
	bool there = false;
	glob_t found;
	size_t i;

	if (glob("/sys/bus/platform/devices/*/modalias", 0, NULL, &found))
		return false;
	for (i = 0; i < found.gl_pathc && !there; i++) {
		there = first_line(found.gl_pathv[i], line, sizeof(line)) && strstr(line, "Carm,mali-valhall-csf");
		snprintf(path, size, "%s", found.gl_pathv[i]);
		*strrchr(path, '/') = '\0';
	}
	globfree(&found);
	return there;
}

static void look_at_device(struct doctor *d)
{
	char path[PATH_MAX], link[PATH_MAX + 16], target[PATH_MAX];
	const char *device, *driver;
	ssize_t length;

	if (lacks_sysfs(d, "GPU"))
		return;
	if (!find_device(path, sizeof(path))) {
		/* Some systems describe their devices without a device tree. */
		if (driver_answers(d))
			tell(d, "GPU", FINE, NULL, "panthor drives a GPU that is not in the device tree");
		else
			tell(d, "GPU", TO_DO, "panthor needs a Mali-G310, G510, G610, G710 or later; enable its node in "
			     "the device tree", "the device tree has no Mali GPU with a command stream frontend");
		return;
	}
	device = strrchr(path, '/') + 1;
	snprintf(link, sizeof(link), "%s/driver", path);
	length = readlink(link, target, sizeof(target) - 1);
	if (length <= 0) {
		tell(d, "GPU", TO_DO, "load panthor, then look for the reason: sudo dmesg | grep -e panthor -e mali",
		     "no driver is bound to %s", device);
		return;
	}
	target[length] = '\0';
	driver = strrchr(target, '/') ? strrchr(target, '/') + 1 : target;
	if (!strcmp(driver, "panthor"))
		tell(d, "GPU", FINE, NULL, "panthor drives %s", device);
	else
		tell(d, "GPU", TO_DO, "add module_blacklist= with the name of that driver to the kernel command line",
		     "%s is driven by %s instead of panthor", device, driver);
}

static void look_at_kbase(struct doctor *d)
{
	static const char *const signs[] = { "/dev/mali0", "/sys/module/mali_kbase", "/sys/module/bifrost_kbase" };
	size_t i;

	for (i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (access(signs[i], F_OK))
			continue;
		if (driver_answers(d)) {
			tell(d, "kbase", FINE, NULL, "Arm's own driver is present (%s), but does not drive the GPU", signs[i]);
			return;
		}
		tell(d, "kbase", TO_DO, "boot a kernel that has panthor; if this one has it, add "
		     "module_blacklist=mali_kbase,bifrost_kbase to its command line",
		     "Arm's own driver is present (%s), as in vendor kernels, and keeps panthor from the GPU", signs[i]);
		return;
	}
	if (driver_answers(d) || !lacks_sysfs(d, "kbase"))
		tell(d, "kbase", FINE, NULL, "Arm's own driver is not present");
}

/* Find the file that modprobe loads for panthor: its line in modules.dep. */
static bool installed_module(const struct doctor *d, char *path, size_t size)
{
	FILE *file = fopen(of_kernel(d, "modules.dep"), "re");
	char *line = NULL, *name;
	bool found = false;
	size_t space = 0;

	while (file && !found && getline(&line, &space, file) > 0) {
		line[strcspn(line, ":\n")] = '\0';
		name = strrchr(line, '/');
		name = name ? name + 1 : line;
		found = !strncmp(name, "panthor.ko", strlen("panthor.ko"));
		if (found)
			snprintf(path, size, "%s", line[0] == '/' ? line : of_kernel(d, line));
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

static bool is_builtin(const struct doctor *d)
{
	FILE *file = fopen(of_kernel(d, "modules.builtin"), "re");
	bool found = false;
	char line[512];

	while (file && !found && fgets(line, sizeof(line), file))
		found = strstr(line, "/panthor.ko");
	if (file)
		fclose(file);
	return found;
}

/* Read a file, or the output of a command. */
static char *contents(const char *path, const char *command, size_t *size)
{
	FILE *file = command ? popen(command, "re") : fopen(path, "re");
	char *data = malloc(MAX_MODULE), *fitting;

	*size = file && data ? fread(data, 1, MAX_MODULE, file) : 0;
	if (file)
		command ? pclose(file) : fclose(file);
	/* Sanitizers detect reads past the end of an exact allocation. */
	fitting = realloc(data, *size + 1);
	return fitting ?: data;
}

/* Read a module, which may be compressed. */
static char *module_contents(const char *path, size_t *size)
{
	static const char *const programs[][2] = { { ".xz", "xz" }, { ".zst", "zstd" }, { ".gz", "gzip" } };
	const char *suffix = strrchr(path, '.');
	char command[PATH_MAX + 64];
	size_t i;

	for (i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (!suffix || strcmp(suffix, programs[i][0]) || strchr(path, '\''))
			continue;
		snprintf(command, sizeof(command), "%s -dc '%s' 2>/dev/null", programs[i][1], path);
		return contents(path, command, size);
	}
	return contents(path, NULL, size);
}

/* Find a section of an ELF file. Returns NULL if it is missing or the file is damaged. */
static const char *elf_section(const char *data, size_t size, const char *name, size_t *length)
{
	const Elf64_Ehdr *header = (const void *)data;
	const Elf64_Shdr *sections, *names;
	unsigned int i;

	if (size < sizeof(*header) || memcmp(data, ELFMAG, SELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64 ||
	    header->e_shoff > size || header->e_shoff % 8 ||
	    header->e_shnum > (size - header->e_shoff) / sizeof(*sections) || header->e_shstrndx >= header->e_shnum)
		return NULL;
	sections = (const void *)(data + header->e_shoff);
	names = &sections[header->e_shstrndx];
	for (i = 0; i < header->e_shnum; i++) {
		if (names->sh_offset > size || sections[i].sh_name >= size - names->sh_offset ||
		    strlen(name) >= size - names->sh_offset - sections[i].sh_name ||
		    strcmp(data + names->sh_offset + sections[i].sh_name, name) ||
		    sections[i].sh_offset > size || sections[i].sh_size > size - sections[i].sh_offset)
			continue;
		*length = sections[i].sh_size;
		return data + sections[i].sh_offset;
	}
	return NULL;
}

/*
 * Compare the build ids of the loaded module and of a file, and if they are the same, look for what the file tells of
 * fixes. Returns UNKNOWN if one of them has none.
 */
static enum state loaded_from(struct doctor *d, const char *path)
{
	size_t size, in_file, loaded_size, info_size;
	char *data = module_contents(path, &size), *loaded = contents(LOADED "/notes/" BUILD_ID, NULL, &loaded_size);
	const char *note = data ? elf_section(data, size, BUILD_ID, &in_file) : NULL;
	const char *info = data ? elf_section(data, size, ".modinfo", &info_size) : NULL;
	enum state state = UNKNOWN;

	if (note && loaded && loaded_size)
		state = in_file == loaded_size && !memcmp(note, loaded, in_file) ? FINE : TO_DO;
	d->no_fixes = state == FINE && info && memmem(info, info_size, NO_FIXES, sizeof(NO_FIXES));
	free(data);
	free(loaded);
	return state;
}

/* Find the same for a panthor that is built in. */
static bool builtin_without_fixes(const struct doctor *d)
{
	size_t size;
	char *data = contents(of_kernel(d, "modules.builtin.modinfo"), NULL, &size);
	bool found = data && memmem(data, size, "panthor." NO_FIXES, sizeof("panthor." NO_FIXES));

	free(data);
	return found;
}

/* A module without counters only matters if it is the one in use. */
static void look_at_module(struct doctor *d)
{
	bool there = !access(LOADED, F_OK);
	char path[PATH_MAX], next[512];

	if (lacks_sysfs(d, "module"))
		return;
	if (is_builtin(d)) {
		d->no_fixes = builtin_without_fixes(d);
		tell(d, "module", lacks_interface(d) ? TO_DO : FINE, lacks_interface(d) ?
		     "boot a kernel that has panthor as a module, or build this one with CONFIG_DRM_PANTHOR_PERF" : NULL,
		     "panthor is built into this kernel, so no module can replace it");
		return;
	}
	if (!installed_module(d, path, sizeof(path))) {
		if (there)
			tell(d, "module", UNKNOWN, NULL, "panthor is loaded, but not listed in %s",
			     of_kernel(d, "modules.dep"));
		else
			tell(d, "module", TO_DO, "boot a kernel with panthor (CONFIG_DRM_PANTHOR)",
			     "this kernel has no panthor module");
		return;
	}
	if (!there) {
		tell(d, "module", TO_DO, "sudo modprobe panthor; if that fails, see sudo dmesg",
		     "panthor is installed, but not loaded: %s", path);
		return;
	}
	switch (loaded_from(d, path)) {
	case FINE:
		tell(d, "module", FINE, NULL, "the loaded panthor is the installed one, %s", path);
		break;
	case TO_DO:
		snprintf(next, sizeof(next), "sudo update-initramfs -u -k %s (or dracut -f, mkinitcpio -P) and "
			 "reboot: the initrd may contain the other one", d->release);
		tell(d, "module", TO_DO, next, "the loaded panthor is not the installed one, %s", path);
		break;
	case UNKNOWN:
		tell(d, "module", UNKNOWN,
		     "install xz-utils or zstd if one is needed to decompress the file",
		     "cannot compare the loaded panthor with %s: no build id", path);
	}
}

/* Nothing tells whether other kernels have the fixes. */
static void look_at_fixes(struct doctor *d)
{
	if (d->no_fixes)
		tell(d, "fixes", FINE, NULL, "panthor is the kernel's own with counters, and no fixes were added: suspend, reset "
		     "and scheduling are as that kernel has them");
}

static void look_at_firmware(struct doctor *d)
{
	char path[PATH_MAX];

	if (d->gpu_error == PPERF_ERROR_NO_COUNTERS)
		tell(d, "firmware", TO_DO, "install a newer mali_csffw.bin, from firmware-misc-nonfree of a later Debian or "
		     "linux-firmware; for details: sudo dmesg | grep panthor",
		     "it runs, but has no counters that the driver supports");
	else if (driver_answers(d))
		tell(d, "firmware", FINE, NULL, "it runs");
	else if (find("/lib/firmware/arm/mali/arch*/mali_csffw.bin*", path, sizeof(path)) ||
		 find("/lib/firmware/updates/arm/mali/arch*/mali_csffw.bin*", path, sizeof(path)))
		tell(d, "firmware", UNKNOWN, "check that the GPU does not need another one: sudo dmesg | grep panthor",
		     "%s is installed", path);
	else
		tell(d, "firmware", TO_DO,
		     "install firmware-misc-nonfree (of Debian's non-free-firmware) or linux-firmware, and reboot",
		     "arm/mali/arch*/mali_csffw.bin is missing in /lib/firmware");
}

static void look_at_counters(struct doctor *d)
{
	if (!d->gpu_error)
		tell(d, "counters", FINE, NULL, "%s", d->gpu);
	else if (d->gpu_error == PPERF_ERROR_PERMISSION)
		tell(d, "counters", UNKNOWN, NULL, "no permission to query the GPU");
	else
		tell(d, "counters", TO_DO, NULL, "%s", d->gpu_message);
}

static void look_at_permission(struct doctor *d)
{
	if (d->gpu_error == PPERF_ERROR_PERMISSION)
		tell(d, "permission", TO_DO, NULL, "%s", d->gpu_message);
	else if (d->gpu_error)
		tell(d, "permission", UNKNOWN, NULL, "not checked: there are no counters yet");
	else if (!d->session_error)
		tell(d, "permission", FINE, NULL, "this user is allowed to count");
	else
		tell(d, "permission", TO_DO, NULL, "%s", d->session_message);
}

/* A difference is no fault: everything here goes by the GPU's own count. */
static void look_at_clock(struct doctor *d)
{
	char text[RATES_TEXT];

	if (d->gpu_error || d->session_error)
		return;
	if (!d->clock.measured_hz)
		tell(d, "clock", UNKNOWN, "run this again while the GPU is busy",
		     "not checked: the GPU was idle, or its frequency changed or is unknown");
	else if (rates_text(&d->clock, text))
		tell(d, "clock", FINE, NULL, "%s", text);
	else
		tell(d, "clock", FINE, NULL, "the GPU runs at the frequency of the clock framework, %g MHz",
		     d->clock.nominal_hz / 1e6);
}

/* Find out why a kernel keeps its own panthor: the package's line in DKMS's log, if its last build was for this kernel. */
static bool kept_because(const char *release, char *why, size_t size)
{
	char path[PATH_MAX], line[1024], head[256];
	bool found = false;
	FILE *file;

	if (!find("/var/lib/dkms/panthor-perf/*/build/make.log", path, sizeof(path)))
		return false;
	snprintf(head, sizeof(head), "panthor-perf: Linux %s keeps its own panthor, without counters: ", release);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file)) {
		found = !strncmp(line, head, strlen(head));
		line[strcspn(line, "\n")] = '\0';
		if (found)
			snprintf(why, size, "%s", line + strlen(head));
	}
	if (file)
		fclose(file);
	return found;
}

/* Only matters if panthor has no counters. */
static void look_at_dkms(struct doctor *d)
{
	char conf[PATH_MAX], built[PATH_MAX], why[600], next[512], *end;
	const char *name;

	if (!find("/usr/src/panthor-perf-*/dkms.conf", conf, sizeof(conf))) {
		if (lacks_interface(d))
			tell(d, "DKMS", TO_DO, "install it as described in board.rst (in panthor-perf's documentation)",
			     "panthor-perf-dkms is not installed");
		else
			tell(d, "DKMS", FINE, NULL, "panthor-perf-dkms is not installed");
		return;
	}
	end = strrchr(conf, '/');
	*end = '\0';
	name = strrchr(conf, '/') + 1;
	if (find(of_kernel(d, "updates/dkms/panthor.ko*"), built, sizeof(built))) {
		tell(d, "DKMS", FINE, NULL, "%s has built %s", name, built);
	} else if (!lacks_interface(d)) {
		tell(d, "DKMS", FINE, NULL, "%s has not built a module for this kernel", name);
	} else if (kept_because(d->release, why, sizeof(why))) {
		snprintf(next, sizeof(next), "fix that, then run sudo dkms autoinstall -k %s", d->release);
		tell(d, "DKMS", TO_DO, next, "%s has not built a module: %s", name, why);
	} else {
		snprintf(next, sizeof(next), "sudo dkms autoinstall -k %s; the compiler's output is in "
			 "/var/lib/dkms/panthor-perf", d->release);
		tell(d, "DKMS", TO_DO, next, "%s has not built a module for this kernel", name);
	}
}

static void look_at_headers(struct doctor *d)
{
	const char *path = of_kernel(d, "build");

	if (!access(path, F_OK))
		tell(d, "headers", FINE, NULL, "%s", path);
	else if (!lacks_interface(d))
		tell(d, "headers", FINE, NULL, "not installed for this kernel, and not needed");
	else
		tell(d, "headers", TO_DO, "on Debian, sudo apt install linux-headers-arm64 from the same suite as the "
		     "kernel, such as -t trixie-backports; elsewhere, the headers of this release",
		     "%s is missing: DKMS cannot build a module", path);
}

static void look_at_signatures(struct doctor *d)
{
	const char *why = NULL;
	size_t size = 0;
	char *variable;
	char line[128];

	if (lacks_sysfs(d, "signature"))
		return;
	/* "[none] integrity confidentiality" */
	if (first_line("/sys/kernel/security/lockdown", line, sizeof(line)) && strncmp(line, "[none]", 6))
		why = "lockdown";
	else if (first_line("/sys/module/module/parameters/sig_enforce", line, sizeof(line)) && line[0] == 'Y')
		why = "module.sig_enforce";
	if (why) {
		if (d->gpu_error == PPERF_ERROR_NO_DEVICE || lacks_interface(d))
			tell(d, "signature", TO_DO,
			     "sudo mokutil --import /var/lib/dkms/mok.pub, reboot, and enroll that key",
			     "this kernel only loads modules signed with a key it trusts (%s)", why);
		else
			tell(d, "signature", FINE, NULL, "this kernel requires one (%s), and has accepted the module", why);
		return;
	}
	/* Four bytes of attributes, and the value. */
	variable = contents(EFI_SECURE_BOOT, NULL, &size);
	tell(d, "signature", FINE, NULL, "this kernel does not require signed modules%s",
	     variable && size == 5 && variable[4] == 1 ? ", although secure boot is on" : "");
	free(variable);
}

static void print_end(const struct doctor *d)
{
	struct json_object *top;

	if (!d->json) {
		printf("\n%s\n", d->to_do ? "Start with the first \"to do\", then run this again." :
		       "No problems found. If counts look wrong, run sudo panthor-perf info --debug under load.");
		return;
	}
	top = json_object_new_object();
	json_object_object_add(top, "version", json_object_new_string(PANTHOR_PERF_VERSION));
	json_object_object_add(top, "to_do", json_object_new_int(d->to_do));
	json_object_object_add(top, "findings", d->findings);
	puts(json_object_to_json_string_ext(top, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(top);
}

int command_doctor(int argc, char **argv)
{
	static const struct argp_child children[] = { { &device_argp, 0, NULL, 0 }, {} };
	static const struct argp argp = {
		options, parse, NULL, "Diagnose setup problems.", children, NULL, NULL
	};
	struct doctor d = { .release = "of unknown release" };

	argp_parse(&argp, argc, argv, 0, NULL, &d);
	first_line("/proc/sys/kernel/osrelease", d.release, sizeof(d.release));
	if (d.json)
		d.findings = json_object_new_array();
	else
		printf("panthor-perf %s\n\n", PANTHOR_PERF_VERSION);
	d.sysfs = !access("/sys/module", F_OK);
	try_to_count(&d);

	look_at_board(&d);
	look_at_kernel(&d);
	look_at_device(&d);
	look_at_kbase(&d);
	look_at_module(&d);
	look_at_fixes(&d);
	look_at_firmware(&d);
	look_at_counters(&d);
	look_at_permission(&d);
	look_at_clock(&d);
	look_at_dkms(&d);
	look_at_headers(&d);
	look_at_signatures(&d);

	print_end(&d);
	free(d.gpu_message);
	free(d.session_message);
	return finish_output(stdout, "the standard output") ?: d.to_do ? STATUS_FAILED : STATUS_OK;
}
