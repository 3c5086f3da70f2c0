# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# The cache for what tests download: outside of the tree, so that a clean clone downloads nothing again.
# . tests/support/cache.sh
CACHE=$(realpath -m "${XDG_CACHE_HOME:-$HOME/.cache}/zmem-bpf")
mkdir -p "$CACHE"

# cache_begin: prints a new directory in the cache, for cache_keep.
cache_begin() {
	mktemp -d "$CACHE/tmp.XXXXXX"
}

# cache_keep NEW DIR: puts the complete directory NEW into the cache as DIR, with its checksums.
# Another test may have done the same meanwhile.
cache_keep() {
	mkdir -p "$(dirname "$2")" && cache_sums "$1" >"$1.sha256" && mv -T "$1" "$2" 2>/dev/null && mv "$1.sha256" "$2.sha256"
	rm -rf --one-file-system "$1" "$1.sha256"
	[ -d "$2" ]
}

# cached DIR: true if the cache has it, unchanged. Removes a damaged one.
cached() {
	[ -d "$1" ] && [ -s "$1.sha256" ] && cache_sums "$1" | cmp -s - "$1.sha256" && return
	rm -rf --one-file-system "$1" "$1.sha256"
	return 1
}

cache_sums() {
	(cd "$1" && find . -type f -print0 | sort -z | xargs -0 -r sha256sum)
}
