// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * libdw unwinds by the tables of the programs. It asks for modules, registers and words of memory.
 *
 * A message of the kernel side has the registers of a thread, and a copy of its stack from the
 * stack pointer on. For libdw there is one process with one thread, which has these registers. A
 * word of memory comes from the copy; a word outside of it ends the stack, which then is truncated.
 * Modules are the images of the address space: a file where its first segment is mapped, and memory
 * with trampolines, which get a table of our own. They are reported anew when the images changed.
 *
 * Where code has no table, as in musl, its instructions lead to the caller (step_out.h), from where
 * the thread is up to code with a table. Behind that, libdw follows frame pointers.
 *
 * Each frame is an address. That of a caller is the one behind its call, which may be the first one
 * of another function: the byte before it counts.
 */
#include "code/unwind.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code/step_out.h"
#include "code/trampoline.h"

#if defined(__x86_64__)
#define REGS 17
/* The place in pt_regs of each register of DWARF (System V ABI, AMD64 supplement, 3.36). */
static const uint8_t dwarf_word[REGS] = {10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16};
#else
#define REGS 32
#endif

#define TABLED	  4096
#define STEPS_OUT 16 /* functions without a table, where the thread is */

#define PID	  1 /* any number: libdw has one process */

struct unwinder {
	const struct libdw *dw;
	const struct code_space *space;
	const struct code_files *files;
	Dwfl *dwfl;
	bool attached;
	unsigned generation; /* of the images that libdw knows */
	const struct zmem_grow_stack *message;
	Dwarf_Word reg[REGS];	 /* by their numbers in DWARF */
	uint64_t tabled[TABLED]; /* addresses that have a table, by their last bits */
	struct unwound *out;
};

/* ---- what libdw asks for ---- */

/* Modules have the number of their file as name; memory with trampolines has this one. */
#define TRAMPOLINES "trampolines"

static int find_elf(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
		    char **ret_path, Elf **ret_elf)
{
	const struct unwinder *u = *user;
	unsigned long number = strtoul(name, NULL, 10);

	(void)module;
	(void)base;
	(void)ret_path;
	if (strcmp(name, TRAMPOLINES) == 0) {
		*ret_elf = trampoline_elf();
		return -1;
	}
	if (!u || number >= u->files->count || u->files->item[number].fd < 0)
		return -1;
	/* libdw would map it, and a file that is truncated meanwhile would end the program. */
	*ret_elf = elf_open_tables(u->files->item[number].fd);
	return -1;
}

/* The tables for unwinding are in the program itself. */
static int find_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			  const char *path, const char *link, GElf_Word crc, char **ret_path)
{
	(void)module;
	(void)user;
	(void)name;
	(void)base;
	(void)path;
	(void)link;
	(void)crc;
	(void)ret_path;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_debuginfo,
};

/* There is one thread: the one of the copy. */
static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	(void)dwfl;
	if (*thread)
		return 0;
	*thread = arg;
	return PID;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
	(void)dwfl;
	(void)tid;
	*thread = arg;
	return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret, void *arg)
{
	const struct unwinder *u = arg;
	uint64_t at = address - u->message->regs[STACK_WORD_SP];

	(void)dwfl;
	if (at > u->message->len || u->message->len - at < sizeof(*ret) ||
	    !stack_has(u->message, (uint32_t)at)) {
		u->out->truncated = true;
		return false;
	}
	memcpy(ret, u->message->copy + at, sizeof(*ret));
	return true;
}

static void copy_registers(struct unwinder *u)
{
	for (int i = 0; i < REGS; i++) {
#if defined(__x86_64__)
		u->reg[i] = u->message->regs[dwarf_word[i]];
#else
		u->reg[i] = u->message->regs[i];
#endif
	}
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct unwinder *u = arg;

#if defined(__aarch64__)
	u->dw->dwfl_thread_state_register_pc(thread, u->message->regs[STACK_WORD_IP]);
#endif
	return u->dw->dwfl_thread_state_registers(thread, 0, REGS, u->reg);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

static int add_frame(Dwfl_Frame *frame, void *arg)
{
	struct unwinder *u = arg;
	Dwarf_Addr pc;
	bool activation;

	if (u->out->count >= UNWIND_FRAMES || !u->dw->dwfl_frame_pc(frame, &pc, &activation))
		return DWARF_CB_ABORT;
	u->out->ip[u->out->count++] = activation ? pc : pc - 1;
	return DWARF_CB_OK;
}

/* ---- code without a table ---- */

#if defined(__x86_64__)

/* The number in DWARF of each register of an instruction. */
static const uint8_t dwarf_number[STEP_REGS] = {0, 2, 1,  3,  7,  6,  4,  5,
						8, 9, 10, 11, 12, 13, 14, 15};
#define DWARF_IP 16

static bool has_row(const struct unwinder *u, Dwarf_CFI *cfi, Dwarf_Addr address)
{
	Dwarf_Frame *frame;

	if (!cfi || u->dw->dwarf_cfi_addrframe(cfi, address, &frame) != 0)
		return false;
	free(frame);
	return true;
}

/* Also of code that no module has: libdw ends there. */
static bool look_for_table(const struct unwinder *u, uint64_t ip)
{
	Dwfl_Module *module = u->dw->dwfl_addrmodule(u->dwfl, ip);
	Dwarf_Addr bias;

	return !module || has_row(u, u->dw->dwfl_module_eh_cfi(module, &bias), ip - bias) ||
	       has_row(u, u->dw->dwfl_module_dwarf_cfi(module, &bias), ip - bias);
}

/* Few instructions touch most pages. */
static bool has_table(struct unwinder *u, uint64_t ip)
{
	uint64_t *tabled = &u->tabled[ip % TABLED];

	if (*tabled != ip && look_for_table(u, ip))
		*tabled = ip;
	return *tabled == ip;
}

static size_t read_code(void *arg, uint64_t address, unsigned char *buf, size_t len)
{
	const struct unwinder *u = arg;
	const struct image *image = code_space_find(u->space, address);
	const struct code_file *f;

	if (!image || image->file >= u->files->count)
		return 0;
	f = &u->files->item[image->file];
	return f->fd < 0 ? 0 : elf_read_code(f->fd, &f->facts, address - image->base, buf, len);
}

static bool read_word(void *arg, uint64_t address, uint64_t *ret)
{
	struct unwinder *u = arg;

	return read_memory(NULL, address, ret, u);
}

/* From where the thread is to the first code with a table. */
static void step_out_of_all(struct unwinder *u)
{
	const struct step_from from = {u, read_code, read_word};
	uint64_t ip = u->reg[DWARF_IP], at = ip;

	while (u->out->count < STEPS_OUT && !has_table(u, ip)) {
		uint64_t reg[STEP_REGS];

		for (int i = 0; i < STEP_REGS; i++)
			reg[i] = u->reg[dwarf_number[i]];
		if (!step_out(&from, &at, reg))
			break;
		u->out->ip[u->out->count++] = ip;
		for (int i = 0; i < STEP_REGS; i++)
			u->reg[dwarf_number[i]] = reg[i];
		/* In a caller the address of the call counts, not the one behind it. */
		ip = u->reg[DWARF_IP] = at - 1;
	}
	/* What was read for a way that was given up says nothing. */
	u->out->truncated = false;
}

#else

static void step_out_of_all(struct unwinder *u)
{
	(void)u;
}

#endif

/* ---- modules ---- */

/* Reports each file where its first segment is, and memory with known code. */
static void report(struct unwinder *u)
{
	const struct code_space *s = u->space;

	memset(u->tabled, 0, sizeof(u->tabled));
	u->dw->dwfl_report_begin(u->dwfl);
	for (size_t i = 0; i < s->count; i++) {
		const struct image *image = &s->image[i];
		Dwfl_Module *module;
		void **user;
		char name[16];
		uint64_t end = image->end;

		if (image->trampolines)
			u->dw->dwfl_report_module(u->dwfl, TRAMPOLINES, image->start, image->end);
		if (image->file >= u->files->count || u->files->item[image->file].fd < 0)
			continue;
		/* Several mappings of one file follow each other. */
		while (i + 1 < s->count && s->image[i + 1].file == image->file &&
		       s->image[i + 1].base == image->base)
			end = s->image[++i].end;
		snprintf(name, sizeof(name), "%u", image->file);
		module = u->dw->dwfl_report_module(u->dwfl, name, image->low, end);
		if (!module)
			continue;
		u->dw->dwfl_module_info(module, &user, NULL, NULL, NULL, NULL, NULL, NULL);
		*user = u;
	}
	u->dw->dwfl_report_end(u->dwfl, NULL, NULL);
	u->generation = s->generation;
}

int unwinder_new(const struct libdw *dw, const struct code_space *space,
		 const struct code_files *files, struct unwinder **ret)
{
	struct unwinder *u = calloc(1, sizeof(*u));

	if (!u)
		return -ENOMEM;
	u->dw = dw;
	u->space = space;
	u->files = files;
	u->dwfl = dw->dwfl_begin(&callbacks);
	if (!u->dwfl) {
		unwinder_free(u);
		return -ENOMEM;
	}
	*ret = u;
	return 0;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	if (u->dwfl)
		u->dw->dwfl_end(u->dwfl);
	free(u);
}

int unwinder_run(struct unwinder *u, const struct zmem_grow_stack *m, struct unwound *ret)
{
	u->message = m;
	u->out = ret;
	*ret = (struct unwound){};
	if (u->generation != u->space->generation)
		report(u);
	if (!u->attached) {
		if (!u->dw->dwfl_attach_state(u->dwfl, NULL, PID, &thread_callbacks, u))
			return -ENODATA;
		u->attached = true;
	}
	copy_registers(u);
	step_out_of_all(u);
	/* The error of the last frame is how most stacks end. */
	u->dw->dwfl_getthread_frames(u->dwfl, PID, add_frame, u);
	if (ret->count >= UNWIND_FRAMES)
		ret->truncated = true;
	return ret->count ? 0 : -ENODATA;
}
