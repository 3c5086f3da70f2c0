// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Answers of helpers, one of which may be in the hands of the file that it parsed: whatever they
 * are, names end, numbers are those that were asked for, and nothing outside the answer is read.
 * The first byte is the request; each answer has an error, a length and bytes.
 */
#include "base/cleanup.h"
#include "code/code_reader.h"
#include "code/lines.h"
#include "code/process_reader.h"
#include "demangle/demangler.h"
#include "fuzz.h"

#define ADDRESSES 16

static const uint8_t *input;
static size_t input_left;
static struct helpers helpers = {.hurry_fd = -1};

/* These are linked in the place of the real ones: no process is started. */
int __wrap_helper_start(struct helper *h);
int __wrap_helper_call(struct helper *h, size_t fds);
int __wrap_helper_call_file(struct helper *h);
void __wrap_helper_done(struct helper *h);

int __wrap_helper_start(struct helper *h)
{
	h->pid = 1;
	h->starts = 1;
	return 0;
}

int __wrap_helper_call(struct helper *h, size_t fds)
{
	struct helper_message *ret = &h->answer;
	int8_t error = 0;
	uint16_t len = 0;

	(void)fds;
	__wrap_helper_start(h);
	FUZZ_CHECK(h->request.len <= HELPER_DATA);
	if (!input_left)
		return -ECHILD;
	fuzz_take(&input, &input_left, &error, sizeof(error));
	fuzz_take(&input, &input_left, &len, sizeof(len));
	ret->kind = h->request.kind;
	ret->fds = 0;
	ret->len = len < input_left ? len : input_left;
	/* What was there before is not part of it. */
	memset(ret->data, 0xa5, sizeof(ret->data));
	if (ret->len)
		memcpy(ret->data, input, ret->len);
	input += ret->len;
	input_left -= ret->len;
	/* As helper_call() does. */
	return error > 0 ? -ENOENT : error == -ENOMEM ? -EFBIG : error;
}

int __wrap_helper_call_file(struct helper *h)
{
	return __wrap_helper_call(h, 0);
}

void __wrap_helper_done(struct helper *h)
{
	h->pid = 0;
}

/* ---- requests ---- */

struct named {
	size_t next;
};

/* The functions that are in the text of a line. */
static void check_inlined(const char *name)
{
	cleanup_free char *text = strdup(name);
	size_t len = strlen(name), count = 0;
	struct inlined inlined;
	char *rest;

	FUZZ_CHECK(text);
	rest = lines_end_path(text);
	while (lines_take_inlined(&rest, &inlined)) {
		FUZZ_CHECK(*inlined.name && count++ < len);
		FUZZ_CHECK(inlined.name > text && inlined.source <= text + len);
	}
}

static int check_name(void *arg, size_t i, uint64_t start, const char *name)
{
	struct named *n = arg;

	(void)start;
	FUZZ_CHECK(i >= n->next && i < ADDRESSES);
	FUZZ_CHECK(strlen(name) < HELPER_DATA);
	n->next = i + 1;
	check_inlined(name);
	return 0;
}

/* After a bad answer the same names are asked for again. */
static int check_text(void *arg, size_t i, const char *text)
{
	(void)arg;
	FUZZ_CHECK(i < ADDRESSES);
	FUZZ_CHECK(!text || strlen(text) < HELPER_DATA);
	return 0;
}

static int check_mapping(void *arg, const struct code_mapping *m, const char *name)
{
	const struct strbuf *code = arg;

	fuzz_check_part(name, m->name_len, code->data, code->len);
	return 0;
}

static void ask_code_reader(uint8_t what)
{
	static const char stack_bytes[sizeof(struct zmem_grow_stack)];
	const struct zmem_grow_stack *stack = (const void *)stack_bytes, *stacks[] = {stack, stack};
	static struct unwound unwound[2];
	uint64_t address[ADDRESSES] = {};
	struct code_reader *reader;
	struct named named = {};
	struct elf_facts facts;
	bool debug;

	FUZZ_CHECK(code_reader_new(NULL, 65534, 65534, &helpers, &reader) == 0);
	FUZZ_CHECK(code_reader_begin(reader) == 1);
	if (what == 0) {
		code_reader_name(reader, CODE_NAMES, 0, address, ADDRESSES, check_name, &named);
	} else if (what == 7) {
		static const char *const name[] = {"free", "malloc"};
		const struct function_names names = {name, 2, 2};
		struct found_function found[4] = {};
		int n = code_reader_functions(reader, 0, &names, found, 4);

		FUZZ_CHECK(n <= 4);
		for (int i = 0; i < n; i++)
			FUZZ_CHECK(found[i].i < 2);
	} else if (what == 8) {
		char version[CODE_VERSION_MAX];

		code_reader_version(reader, 0, version);
		FUZZ_CHECK(strnlen(version, sizeof(version)) < sizeof(version));
	} else if (what == 1) {
		int r = code_reader_unwind(reader, 0, stacks, 2, unwound);

		FUZZ_CHECK(r < 0 || (unwound[0].count <= UNWIND_FRAMES &&
				     unwound[1].count <= UNWIND_FRAMES));
	} else {
		const struct code_file_request request = {.found = -1, .root_fd = -1, .path = "x"};
		int r = code_reader_open(reader, &request, &facts, &debug);

		FUZZ_CHECK(r < 0 ||
			   (facts.segments <= SEGMENTS_MAX && facts.build_id_len <= BUILD_ID_MAX));
	}
	code_reader_free(reader);
}

static void ask_process_reader(uint8_t what)
{
	static struct process_reader reader;
	cleanup(strbuf_done) struct strbuf code = {};
	struct fault_pages pages[ADDRESSES] = {};
	char bytes[64];
	int root, n;

	process_reader_init(&reader, &helpers);
	if (what == 3) {
		if (process_read_code(&reader, -1, &code, &root) == 0)
			process_each_code(&code, check_mapping, &code);
		FUZZ_CHECK(root == -1);
	} else if (what == 4) {
		process_count_pages(&reader, -1, pages, ADDRESSES);
	} else {
		n = process_read_memory(&reader, -1, 0, bytes, sizeof(bytes));
		FUZZ_CHECK(n <= (int)sizeof(bytes));
	}
	helper_done(&reader.helper);
}

static void ask_demangler(void)
{
	static struct demangler d;
	static const char *name[ADDRESSES];

	for (size_t i = 0; i < ADDRESSES; i++)
		name[i] = "_Z1fv";
	demangler_init(&d, &helpers);
	FUZZ_CHECK(demangler_run(&d, name, ADDRESSES, check_text, NULL) == 0);
	helper_done(&d.helper);
}

const unsigned fuzz_changes = 2000;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t what = 0;

	fuzz_take(&data, &size, &what, 1);
	what %= 9;
	input = data;
	input_left = size;
	if (what < 3 || what > 6)
		ask_code_reader(what);
	else if (what < 6)
		ask_process_reader(what);
	else
		ask_demangler();
	return 0;
}
