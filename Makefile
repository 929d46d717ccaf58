# SPDX-License-Identifier: MIT
# What one does here; `make help` says what each is. The work is done by the scripts of tools/virt.

KERNELS := 6.12 7.3
KERNEL ?= 7.3
CONFIG ?= plain
GPU ?= g610

BUILD := tools/virt/build
RUN := tools/virt/run
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/panthor-perf

PACKAGES := abigail-tools bash bc bison build-essential chromium-headless-shell clang cloc cpio debian-archive-keyring dpkg-dev \
	e2fsprogs fakeroot flex fonts-dejavu-core gcc-aarch64-linux-gnu glslang-tools kmod libc6-dev-arm64-cross libdrm-dev libelf-dev libfdt-dev \
	jq libglib2.0-dev libjson-c-dev libmicrohttpd-dev libncurses-dev libpixman-1-dev libprotobuf-c-dev libsqlite3-dev libssl-dev libtraceevent-dev \
	libtracefs-dev libzstd-dev locales mandoc meson mmdebstrap ninja-build patch pkg-config pmccabe procps protobuf-c-compiler protobuf-compiler python3 rsync \
	valgrind xz-utils zlib1g-dev

.DEFAULT_GOAL := help

help:
	@echo 'make deps          install the Debian packages that the build needs'
	@echo 'make demo          boot a virtual machine with a Mali GPU, and show it at work'
	@echo 'make check         run the quick tests, which need no kernel of ours but a small one (TESTS="NAME...": others)'
	@echo 'make check-all     build everything, run the tests, of the costly ones a portion (DAY=1 to 7)'
	@echo 'make check-long    all tests, in all configurations, at full length'
	@echo 'make kcsan         look for data races of the driver (KERNEL=7.3|6.12)'
	@echo 'make storm         compare counts while firmware is disturbed, at full length (SEED=N: the same again)'
	@echo 'make check-build   compile panthor in many ways (other architectures, compilers, options)'
	@echo 'make coverage      say which lines of tool, model and driver tests execute (KERNEL=7.3|6.12)'
	@echo 'make mutants       put faults into the code, and see which test finds each, from where it was left (MUTANTS=1-10)'
	@echo 'make soak          a turn of six of hours of sampling at 1 kHz, and what they come to (KERNEL=)'
	@echo 'make fuzz-device   look for ten minutes for what the virtual GPU does not survive (FUZZ_SECONDS=N)'
	@echo 'make fuzz-ioctl    look for calls that the driver does not survive, from where it was left (KERNEL=, FUZZ_SECONDS=6000)'
	@echo 'make fuzz-data     look for ten minutes for broken recordings that panthor-perf does not survive (FUZZ_SECONDS=N)'
	@echo 'make series        write the patches that maintainers get (KERNEL=7.3|6.12, PART=1..4, OUT=DIR)'
	@echo 'make kunit         run the KUnit suites, on a small kernel of their own'
	@echo 'make module        build panthor for another kernel, KDIR=DIR its headers or build directory'
	@echo 'make armbian       write patches for the kernels of Armbian'\''s build (FAMILY=cix-7.1|rockchip64-6.18|..., OUT=its directory)'
	@echo 'make deb           build packages for Debian on arm64: the tool, and the driver by DKMS (OUT=DIR)'
	@echo 'make image         make a bootable disk image of Debian with counters (BOARD=rock-5b|orangepi-5|orangepi-5-plus|virt OUT=FILE)'
	@echo 'make dist          write a tarball of the tool and the library, for other distributions (OUT=DIR)'
	@echo 'make docs          make HTML of the pages in Documentation (OUT=DIR)'
	@echo 'make releases      tell which kernels of Debian debian/releases does not have yet'
	@echo 'make bench         measure: by instructions first, then by the clock'
	@echo 'make shell         a shell in the virtual machine'
	@echo 'make qemu          only build QEMU with the virtual GPU'
	@echo 'make kernel        only build a kernel'
	@echo 'make tools         only build the programs of the virtual machine'
	@echo 'make clean-cache   remove everything built and fetched'
	@echo
	@echo 'KERNEL=6.12|7.3 CONFIG=plain|pristine|noperf|nopmu|debian|stock|debug|kcsan|gcov GPU=g310|...|g1 choose for demo,'
	@echo 'shell and kernel (tools/virt/run -h has the GPUs). Sources come from Debian; KERNEL_SRC_6_12=DIR,'
	@echo 'KERNEL_SRC_7_3=DIR and QEMU_SRC=DIR point at others. All of it is kept in'
	@echo '$${XDG_CACHE_HOME:-~/.cache}/panthor-perf.'

deps:
	@$(BUILD)/deps.sh $(PACKAGES)

# Debian's kernel with our module, unless another is asked for.
demo: deps
	@tools/virt/demo -k $(KERNEL) -c $(if $(filter file,$(origin CONFIG)),stock,$(CONFIG)) -g $(GPU)

shell:
	@$(RUN) -k $(KERNEL) -c $(CONFIG) -g $(GPU)

check: deps
	@tools/virt/check $(or $(TESTS),-q)

check-all: deps
	@tools/virt/check $(TESTS)

kunit: deps
	@for k in $(KERNELS); do $(BUILD)/kunit.sh $$k || exit 1; done

check-long: deps
	@tools/virt/check -L $(TESTS)

kcsan: deps
	@tools/virt/kcsan -k $(KERNEL)

storm: deps
	@seed=$${SEED:-$$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}; echo "SEED=$$seed"; \
		SEED=$$seed tools/virt/check -L storm storm-faults

coverage: deps
	@tools/virt/coverage -u
	@tools/virt/coverage -m
	@tools/virt/coverage -k $(KERNEL)

mutants: deps
	@tools/virt/mutants -k $(KERNEL) $(MUTANTS)

soak: deps
	@KERNEL=$(KERNEL) CONFIG=stock tools/virt/tests/driver/soak.sh -t

fuzz-device: deps
	@tools/virt/tests/model/fuzz.sh -t $(or $(FUZZ_SECONDS),600)

fuzz-ioctl: deps
	@KERNEL=$(KERNEL) tools/virt/tests/driver/fuzz-ioctl.sh -t $(or $(FUZZ_SECONDS),6000)

series:
	@$(BUILD)/series.sh $(if $(PART),-p $(PART)) $(KERNEL) $(or $(OUT),series-$(KERNEL))
	@echo "The patches are in $(or $(OUT),series-$(KERNEL)). They have no Signed-off-by: that is yours to add."

fuzz-data: deps
	@$(MAKE) --no-print-directory -C tools/panthor-perf fuzz O="$(CACHE)/panthor-perf-fuzz" \
		FUZZ_SECONDS=$(or $(FUZZ_SECONDS),600)

check-build:
	@$(BUILD)/check-build.sh

qemu:
	@$(BUILD)/qemu.sh

kernel:
	@$(BUILD)/kernel.sh $(KERNEL) $(CONFIG)

# With the compiler of that kernel, from SRC=DIR if it does not have panthor's source; into O=FILE. MENDS=n: counters
# alone.
module:
	@MENDS="$(or $(MENDS),y)" $(BUILD)/module.sh make "$(KDIR)" "$(or $(O),panthor.ko)"

armbian:
	@$(BUILD)/armbian.sh "$(FAMILY)" "$(OUT)"

deb:
	@$(BUILD)/deb.sh $(OUT)

# SSH_KEY, PASSWORD, NAME and UBOOT are options of the image, see Documentation/image.rst.
image: deps
	@$(BUILD)/deps.sh dosfstools fdisk mtools openssl
	@$(BUILD)/image.sh "$(BOARD)" "$(OUT)"

dist:
	@packaging/dist $(OUT)

docs:
	@$(BUILD)/deps.sh python3-sphinx
	@$(BUILD)/docs.sh $(OUT)

releases:
	@$(BUILD)/releases.sh

tools:
	@$(BUILD)/tools.sh

bench:
	@tools/virt/bench
	@$(MAKE) --no-print-directory -s -C tools/layout bench O="$(CACHE)/layout"

clean-cache:
	@rm -rf "$(CACHE)"

.PHONY: help deps demo shell check check-all check-long kcsan storm coverage mutants soak fuzz-device fuzz-ioctl fuzz-data kunit series check-build qemu kernel module \
	armbian deb dist docs image releases tools bench clean-cache
