// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* An ELF file in memory with one entry of .eh_frame (System V ABI, AMD64 supplement, 3.7). */
#include "code/trampoline.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)

/* Objects/asm_trampoline.S: sub $8, %rsp; call *%rcx; add $8, %rsp; ret */
static const unsigned char trampoline[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd1,
					   0x48, 0x83, 0xc4, 0x08, 0xc3};
/* Where the processor checks targets of jumps, endbr64 is before it. */
static const unsigned char endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};

bool trampoline_is(const unsigned char *code, size_t len)
{
	if (len >= sizeof(endbr) && memcmp(code, endbr, sizeof(endbr)) == 0) {
		code += sizeof(endbr);
		len -= sizeof(endbr);
	}
	return len >= sizeof(trampoline) && memcmp(code, trampoline, sizeof(trampoline)) == 0;
}

#define CODE_MAX  ((uint64_t)1 << 40) /* bytes that the entry is about */
#define CIE_SIZE  20
#define FDE_SIZE  24
#define NAMES	  "\0.eh_frame\0.shstrtab"
#define REG_RSP	  7
#define REG_RIP	  16
#define DEF_CFA	  0x0c
#define AT_OFFSET 0x80

/* The caller's frame ends 16 bytes above the stack pointer; the return address is below its end. */
static struct {
	Elf64_Ehdr e;
	Elf64_Phdr load;
	struct {
		uint32_t cie_size, cie_id;
		unsigned char version, augmentation, code_align, data_align, return_register;
		unsigned char instruction[11];
		uint32_t fde_size, fde_cie;
		uint64_t start, size;
		unsigned char nothing[4];
		uint32_t end;
	} __attribute__((packed)) frame;
	char names[sizeof(NAMES)];
	Elf64_Shdr section[3] __attribute__((aligned(8)));
} image = {
	.e = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
	      .e_type = ET_DYN,
	      .e_machine = EM_X86_64,
	      .e_version = EV_CURRENT,
	      .e_phoff = offsetof(__typeof__(image), load),
	      .e_shoff = offsetof(__typeof__(image), section),
	      .e_ehsize = sizeof(Elf64_Ehdr),
	      .e_phentsize = sizeof(Elf64_Phdr),
	      .e_phnum = 1,
	      .e_shentsize = sizeof(Elf64_Shdr),
	      .e_shnum = 3,
	      .e_shstrndx = 2},
	.load = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_memsz = CODE_MAX, .p_align = 4096},
	.frame = {.cie_size = CIE_SIZE,
		  .version = 1,
		  .code_align = 1,
		  .data_align = 0x78, /* -8 */
		  .return_register = REG_RIP,
		  .instruction = {DEF_CFA, REG_RSP, 16, AT_OFFSET | REG_RIP, 1},
		  .fde_size = FDE_SIZE,
		  .fde_cie = 4 + CIE_SIZE + 4,
		  .size = CODE_MAX},
	.names = NAMES,
	.section = {{},
		    {.sh_name = 1,
		     .sh_type = SHT_PROGBITS,
		     .sh_flags = SHF_ALLOC,
		     .sh_offset = offsetof(__typeof__(image), frame),
		     .sh_size = sizeof(image.frame),
		     .sh_addralign = 1},
		    {.sh_name = sizeof("\0.eh_frame"),
		     .sh_type = SHT_STRTAB,
		     .sh_offset = offsetof(__typeof__(image), names),
		     .sh_size = sizeof(NAMES),
		     .sh_addralign = 1}},
};

Elf *trampoline_elf(void)
{
	elf_version(EV_CURRENT);
	return elf_memory((char *)&image, sizeof(image));
}

#else

/* On this architecture trampolines have frame pointers. */
bool trampoline_is(const unsigned char *code, size_t len)
{
	(void)code;
	(void)len;
	return false;
}

Elf *trampoline_elf(void)
{
	return NULL;
}

#endif
