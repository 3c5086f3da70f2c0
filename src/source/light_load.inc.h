/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The body of a light skeleton's wrapper. Included once in a .c that has defined SKEL (the
 * skeleton's name), ITER (its iterator), LOAD (the function to define) and, for an object that
 * walks pages, WITH_PAGES, and included the generated header.
 */
#define PASTE_(a, b) a##b
#define PASTE(a, b)  PASTE_(a, b)

static void destroy_skeleton(void *skel)
{
	PASTE(SKEL, __destroy)(skel);
}

/*
 * The programs hold the maps; what is left of 16 descriptors (ulimit -n) is for reading. `keep` is
 * left open.
 */
static void close_maps(struct SKEL *skel, int keep)
{
	struct bpf_map_desc *map = (struct bpf_map_desc *)&skel->maps;

	for (size_t i = 0; i < sizeof(skel->maps) / sizeof(*map); i++) {
		if (map[i].map_fd == keep)
			continue;
		close(map[i].map_fd);
		map[i].map_fd = 0;
	}
}

int LOAD(uint32_t cpus, const struct zmem_cipher *cipher, struct light *ret)
{
	struct SKEL *skel = PASTE(SKEL, __open)();
	const uint32_t zero = 0;
	int r;

	if (!skel)
		return -ENOMEM;
	skel->maps.cpu_offset.max_entries = cpus;
	r = PASTE(SKEL, __load)(skel);
	if (r == 0)
		r = skel_map_update_elem(skel->maps.cipher.map_fd, &zero, cipher, 0);
	if (r < 0) {
		destroy_skeleton(skel);
		return r;
	}
	*ret = (struct light){
		.iter_fd = skel->progs.ITER.prog_fd,
		.setup_fd = skel->progs.cpu_offset_setup.prog_fd,
#ifdef WITH_PAGES
		.calibration_fd = skel->maps.calibration.map_fd,
#endif
		.skel = skel,
		.destroy = destroy_skeleton,
	};
	close_maps(skel, ret->calibration_fd);
	return 0;
}
