// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a static program needs beside libelf.a. */
#include <search.h>
#include <stddef.h>

/*
 * elfutils 0.192 moved the tree of raw chunks of an ELF file from libelf.a to a library that Debian
 * 13 does not ship. These do what libelf expects: an empty tree at first, and freed nodes at the
 * end.
 */
struct search_tree {
	void *root;
};

void eu_search_tree_init(struct search_tree *tree);
void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *));

__attribute__((weak)) void eu_search_tree_init(struct search_tree *tree)
{
	tree->root = NULL;
}

__attribute__((weak)) void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *))
{
	tdestroy(tree->root, free_node);
}
