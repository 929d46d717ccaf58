/* SPDX-License-Identifier: MIT */
/*
 * What panthor_perf_fw.c, panthor_perf_session.c and panthor_perf_layout.c take from
 * the kernel, with the accesses to shared memory, barriers and locks put into the
 * hands of the model. It stands in front of these files and in the place of all
 * headers that they include and that are not in the tree. Functions that are only
 * declared are called by code that is not under test, and is not linked.
 */
#ifndef ORDERING_KERNEL_H
#define ORDERING_KERNEL_H

#include <stdlib.h>
#include <string.h>

#include "model.h"

/* An access of the driver to memory that is not shared is as it always is. */
#define READ_ONCE(x)									\
	({										\
		const volatile __typeof__(x) *p_ = &(x);				\
											\
		model_tracked(p_) ? (__typeof__(x))model_read(p_, RELAXED) : *p_;	\
	})
#define WRITE_ONCE(x, v)								\
	do {										\
		volatile __typeof__(x) *p_ = &(x);					\
		__typeof__(x) v_ = (v);							\
											\
		if (model_tracked(p_))							\
			model_write(p_, v_, RELAXED);					\
		else									\
			*p_ = v_;							\
	} while (0)

#include "layout_shim.h"

#define memcpy(dst, src, size) model_copy(dst, src, size)

/* As arm64 has them, see README. */
#define dma_mb()	model_barrier(BARRIER_FULL, "dma_mb", __func__)
#define dma_rmb()	model_barrier(BARRIER_READ, "dma_rmb", __func__)
#define dma_wmb()	model_barrier(BARRIER_WRITE, "dma_wmb", __func__)
#define smp_mb()	model_barrier(BARRIER_FULL, "smp_mb", __func__)
#define smp_rmb()	model_barrier(BARRIER_READ, "smp_rmb", __func__)
#define smp_wmb()	model_barrier(BARRIER_WRITE, "smp_wmb", __func__)

typedef struct { int unused; } spinlock_t;
#define spin_lock(lock)		((void)(lock), model_lock())
#define spin_unlock(lock)	((void)(lock), model_unlock("spin_unlock", __func__))

/* Types that structs of the driver consist of. */
typedef struct { u32 counter; } atomic_t;
typedef struct { long long counter; } atomic64_t;
typedef struct { u32 val; } kuid_t;
typedef struct { int unused; } wait_queue_head_t;
struct list_head { struct list_head *next, *prev; };
struct kref { int count; };
struct mutex { int unused; };
struct hrtimer { int unused; };
struct work_struct { int unused; };
struct delayed_work { struct work_struct work; };
struct notifier_block { int unused; };
struct iosys_map { void *vaddr; };
struct drm_gem_object { size_t size; };
struct eventfd_ctx;
struct workqueue_struct;
struct clk;
struct drm_file;

#define TASK_COMM_LEN	16
#define NSEC_PER_SEC	1000000000ull
#define SZ_64K		0x10000
#define PAGE_ALIGN(n)	(((n) + 4095) & ~(u64)4095)
#define GFP_KERNEL_ACCOUNT 0
#define ERESTARTSYS	512
#define FIELD_PREP(mask, value)	(((value) << __builtin_ctzl(mask)) & (mask))
#define IS_ERR(p)	((unsigned long)(p) >= (unsigned long)-4095)
#define PTR_ERR(p)	((long)(p))
#define ERR_PTR(e)	((void *)(long)(e))
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))
#define lockdep_assert_held(lock) ((void)(lock))

static inline void atomic64_inc(atomic64_t *v)
{
	v->counter++;
}

/* What code that is not under test calls. */
extern struct task { pid_t tgid; struct task *group_leader; } *current;
kuid_t current_uid(void);
void eventfd_signal(struct eventfd_ctx *ctx);
struct eventfd_ctx *eventfd_ctx_fdget(int fd);
void eventfd_ctx_put(struct eventfd_ctx *ctx);
#define INIT_LIST_HEAD(list) ((list)->next = (list)->prev = (list))
void kref_init(struct kref *ref);
int kref_put(struct kref *ref, void (*release)(struct kref *ref));
void mutex_init(struct mutex *lock);
void mutex_destroy(struct mutex *lock);
int mutex_lock_interruptible(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
#define kzalloc_obj(object, gfp) calloc(1, sizeof(object))
#define kvzalloc(size, gfp) calloc(1, size)
#define kvcalloc(n, size, gfp) calloc(n, size)
#define kvfree(p) free(p)
#define kfree(p) free(p)
#define get_task_comm(name, task) ((void)(name), (void)(task))
struct drm_gem_object *drm_gem_object_lookup(struct drm_file *file, u32 handle);
void drm_gem_object_put(struct drm_gem_object *obj);
bool drm_gem_is_imported(const struct drm_gem_object *obj);
int drm_gem_vmap(struct drm_gem_object *obj, struct iosys_map *map);
void drm_gem_vunmap(struct drm_gem_object *obj, struct iosys_map *map);
#define check_add_overflow(a, b, sum) __builtin_add_overflow(a, b, sum)

/* panthor */
struct panthor_gem_object { u32 flags; };
struct panthor_gem_object *to_panthor_bo(struct drm_gem_object *obj);
#define DRM_PANTHOR_BO_NO_MMAP			1
#define DRM_PANTHOR_VM_BIND_OP_MAP_NOEXEC	2
#define DRM_PANTHOR_VM_BIND_OP_MAP_UNCACHED	4
#define PANTHOR_VM_KERNEL_AUTO_VA		~0ull

struct panthor_device {
	void *iomem;
	struct {
		u32 gpu_id, mem_features;
		u64 shader_present;
	} gpu_info;
};

struct panthor_fw_global_control_iface {
	u32 version, group_num, perfcnt_size;
};

struct panthor_fw_global_input_iface {
	u32 req, ack_irq_mask, perfcnt_as;
	u64 perfcnt_base;
	u32 perfcnt_extract, perfcnt_config, perfcnt_csg_select, perfcnt_fw_enable,
	    perfcnt_csg_enable, perfcnt_csf_enable, perfcnt_shader_enable, perfcnt_tiler_enable,
	    perfcnt_mmu_l2_enable;
};

struct panthor_fw_global_output_iface {
	u32 ack, perfcnt_insert;
};

struct panthor_fw_global_iface {
	struct panthor_fw_global_control_iface *control;
	struct panthor_fw_global_input_iface *input;
	struct panthor_fw_global_output_iface *output;
	spinlock_t lock;
};

#define GLB_PERFCNT_EN		BIT(5)
#define GLB_PERFCNT_SAMPLE	BIT(6)
#define GLB_COUNTER_EN		BIT(7)
#define GLB_PERFCNT_THRESHOLD	BIT(24)
#define GLB_PERFCNT_OVERFLOW	BIT(25)

/* REQ is written under the interface's lock, by nothing but plain accesses. */
#define panthor_fw_update_reqs(iface, reg, value, mask)					\
	do {										\
		spin_lock(&(iface)->lock);						\
		WRITE_ONCE((iface)->input->reg,						\
			   (READ_ONCE((iface)->input->reg) & ~(u32)(mask)) |		\
			   ((value) & (mask)));						\
		spin_unlock(&(iface)->lock);						\
	} while (0)

#define panthor_fw_toggle_reqs(iface, in, out, mask)					\
	do {										\
		u32 in_, out_;								\
											\
		spin_lock(&(iface)->lock);						\
		in_ = READ_ONCE((iface)->input->in);					\
		out_ = READ_ONCE((iface)->output->out);					\
		WRITE_ONCE((iface)->input->in,						\
			   (in_ & ~(u32)(mask)) | ((out_ ^ (mask)) & (mask)));		\
		spin_unlock(&(iface)->lock);						\
	} while (0)

struct panthor_kernel_bo { void *kmap; };
struct panthor_vm;
struct panthor_vm *panthor_fw_vm(struct panthor_device *ptdev);
u32 panthor_vm_as(struct panthor_vm *vm);
struct panthor_kernel_bo *
panthor_kernel_bo_create(struct panthor_device *ptdev, struct panthor_vm *vm, u64 size,
			 u32 bo_flags, u32 vm_flags, u64 va, const char *name);
int panthor_kernel_bo_vmap(struct panthor_kernel_bo *bo);
u64 panthor_kernel_bo_gpuva(struct panthor_kernel_bo *bo);
void panthor_kernel_bo_destroy(struct panthor_kernel_bo *bo);
struct panthor_fw_global_iface *panthor_fw_get_glb_iface(struct panthor_device *ptdev);
void panthor_fw_ring_doorbell(struct panthor_device *ptdev, u32 id);
int panthor_fw_glb_wait_acks(struct panthor_device *ptdev, u32 mask, u32 *acked, u32 timeout_ms);
bool panthor_hw_has_pwr_ctrl(struct panthor_device *ptdev);
u32 gpu_read(void *iomem, u32 reg);
u64 gpu_read64(void *iomem, u32 reg);
#define CSF_GLB_DOORBELL_ID		0
#define GPU_STATUS			0x34
#define GPU_STATUS_PROTM_ACTIVE		BIT(7)
#define GPU_SHADER_PRESENT		0x100
#define PWR_CONTROL_BASE		0x800
#define PWR_SHADER_PRESENT		0x200
#define GPU_ARCH_MAJOR(id)		((id) >> 28)

#endif
