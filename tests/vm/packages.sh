# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# For tests/vm/run: lists the kernels in Debian's archive and fetches them into the cache.
# The configured suites of the machine come first, then the other suites of the archive. Package lists of
# those, and of other architectures, are in our cache: the apt of the machine is not changed.
. tests/support/cache.sh
# By code names: mirrors were weeks behind for stable-backports, but not for the code name of that suite.
# A missing suite does not disturb the others.
OTHER_SUITES='bullseye bookworm bookworm-backports trixie trixie-backports forky forky-backports sid
experimental'
OTHER_SECURITY='bullseye-security bookworm-security trixie-security forky-security'
USUAL_MODULES='lzo lzo-rle zram crc32c_generic ext4 virtio_pci virtio_balloon'
MODULES=$USUAL_MODULES
declare -A ROWS=() REFRESHED=()
SUITES=configured   # or other
FLAVOUR=cloud-amd64 # kernel flavour; it names the architecture of the packages

architecture() {
	case $FLAVOUR in *arm64*) echo arm64 ;; *) echo amd64 ;; esac
}

# True if the lists are those of the machine's apt.
is_machines() {
	[ "$SUITES" = configured ] && [ "$(architecture)" = "$(dpkg --print-architecture)" ]
}

own_lists() {
	echo "$CACHE/apt/$(architecture)-$SUITES"
}

# of_suites TOOL ARG…: runs an apt tool for the suites in SUITES. A container image may have disabled the
# cache of apt, without which each call takes seconds.
of_suites() {
	local tool=$1 dir
	shift
	is_machines || {
		dir=$(own_lists)
		set -- -o "APT::Architecture=$(architecture)" -o "APT::Architectures=$(architecture)" \
			-o "Dir::State::lists=$dir/lists" -o "Dir::State::status=$dir/status" \
			-o "Dir::Cache=$dir" -o Dir::Cache::pkgcache=pkgcache.bin \
			-o Dir::Cache::srcpkgcache=srcpkgcache.bin "$@"
		[ "$SUITES" = configured ] ||
			set -- -o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=/dev/null "$@"
	}
	"$tool" "$@"
}

# A row for each kernel package named on standard input, oldest first: VERSION PACKAGE PART…; the
# parts hold the kernel and its modules, which since 6.19 are two other packages. What depends on
# another image is a metapackage.
describe() {
	local names
	mapfile -t names
	[ ${#names[@]} -gt 0 ] || return
	of_suites apt-cache show --no-all-versions "${names[@]}" 2>/dev/null | awk '
		function row(   n, word, i, parts) {
			n = split(depends, word, /[ ,|]+/)
			for (i = 1; i <= n; i++)
				if (word[i] ~ /^linux-(binary|modules)-/ && word[i] !~ /-unsigned-/)
					parts = parts " " word[i]
			if (package && depends !~ /[ ,|]linux-image-/)
				print version, package (parts ? parts : " " package)
			package = version = depends = ""
		}
		/^Package: / { package = $2 }
		/^Version: / { version = $2 }
		/^Depends: / { depends = $0 }
		/^$/ { row() }
		END { row() }' | sort -V
}

# The rows of FLAVOUR in SUITES, in ROWS.
read_rows() {
	ROWS[$FLAVOUR-$SUITES]=$(of_suites apt-cache pkgnames linux-image- 2>/dev/null |
		grep -E "^linux-image-[0-9][^-]*(-[0-9]+)?-$FLAVOUR\$" | describe)
}

refresh_machines() {
	local sudo=
	[ "$(id -u)" = 0 ] || sudo='sudo -n'
	$sudo apt-get update -qq >/dev/null 2>&1
}

# Archives and keyrings are those of the machine.
write_sources() {
	local label url entry suites suite keyring
	while IFS='|' read -r label url entry; do
		case $label in
		Debian) suites=$OTHER_SUITES ;;
		Debian-Security) suites=$OTHER_SECURITY ;;
		*) continue ;;
		esac
		keyring=$(sed -n 's/^Signed-By: *\(\/[^ ]*\).*/\1/p
			s/^deb.*signed-by=\(\/[^] ]*\).*/\1/p' "${entry%:*}" | head -n 1)
		for suite in $suites; do
			echo "deb [target=Packages lang=none${keyring:+ signed-by=$keyring}] $url $suite main"
		done
	done < <(apt-get indextargets --format '$(LABEL)|$(REPO_URI)|$(SOURCESENTRY)' 'Origin: Debian' \
		'Component: main' 'Created-By: Packages' | sort -u -t '|' -k 1,2)
}

refresh_own() {
	local dir
	dir=$(own_lists)
	mkdir -p "$dir/lists/partial" "$dir/archives/partial" &&
		write_sources >"$dir/sources.list" && : >"$dir/status" || return
	of_suites apt-get update -q >"$dir/update.log" 2>&1
	touch "$dir/updated"
}

# Once a run. Fails if it was done before.
refresh() {
	[ -z "${REFRESHED[$FLAVOUR-$SUITES]:-}" ] || return
	REFRESHED[$FLAVOUR-$SUITES]=1
	if is_machines; then
		refresh_machines
	else
		refresh_own
	fi
	read_rows
}

# Our own lists are valid for a day.
need_rows() {
	[ -z "${ROWS[$FLAVOUR-$SUITES]:-}" ] || return 0
	if is_machines || [ -n "$(find "$(own_lists)/updated" -mmin -1440 2>/dev/null)" ]; then
		read_rows
	fi
	[ -n "${ROWS[$FLAVOUR-$SUITES]:-}" ] || refresh
}

# The row of the newest kernel in SUITES that the argument names: a line (6.12), a release (7.2.9), the
# newest line (7.x; of no release candidate, which only its line names) or a package.
newest() {
	case $1 in
	linux-*) echo "linux-image-${1#linux-*-}" | describe ;;
	*.x) grep "^${1%.x}\\." <<<"${ROWS[$FLAVOUR-$SUITES]}" | grep -v '^[^ ]*~rc' ;;
	*) grep "^${1//./\\.}[.~+-]" <<<"${ROWS[$FLAVOUR-$SUITES]}" ;;
	esac | tail -n 1
}

# Sets ROW, and SUITES to its suite.
find_kernel() {
	local row found=other
	ROW=
	for SUITES in configured other; do
		need_rows
		row=$(newest "$1")
		[ "$(printf '%s\n' "$row" "$ROW" | sort -V | tail -n 1)" != "$ROW" ] || continue
		ROW=$row found=$SUITES
		case $1 in *.x) ;; *) break ;; esac
	done
	SUITES=$found
	[ -n "$ROW" ]
}

# Sets ALL_LINES, oldest first.
find_all_lines() {
	for SUITES in configured other; do
		need_rows
	done
	ALL_LINES=$(printf '%s\n' "${ROWS[$FLAVOUR-configured]}" "${ROWS[$FLAVOUR-other]}" | sed -nE 's/^([0-9]+\.[0-9]+).*/\1/p' | sort -Vu)
}

# The modules the guest loads, each after those it depends on, and their order. One that the kernel
# has built in is no file.
unpack_module() {
	local root=$1 name=$2 file dep
	grep -qx "$name" "$root/modules/order" && return
	file=$(find "$root/lib/modules" "$root/usr/lib/modules" -name "${name//[-_]/[-_]}.ko*" \
		2>/dev/null | head -n 1)
	[ -n "$file" ] || return 0
	case $file in
	*.xz) xz -dc "$file" ;;
	*.zst) zstd -dcq "$file" ;;
	*) cat "$file" ;;
	esac >"$root/modules/$name.ko" || return 1
	for dep in $(tr '\0' '\n' <"$root/modules/$name.ko" | sed -n 's/^depends=//p' | tr , ' '); do
		unpack_module "$root" "$dep" || return 1
	done
	echo "$name" >>"$root/modules/order"
}

unpack_modules() {
	local name
	: >"$1/modules/order"
	for name in $MODULES; do
		unpack_module "$1" "$name" || return 1
	done
	echo "$MODULES" >"$1/wanted"
	(cd "$1" && find modules | cpio -o -H newc --quiet >base.cpio)
}

# Since 6.19 the kernel lies among its modules.
unpack_kernel() {
	local kernel
	for kernel in "$1"/usr/lib/modules/*/vmlinuz; do
		[ ! -f "$kernel" ] || mv "$kernel" "$1/boot/vmlinuz-packaged"
	done
	ls "$1"/boot/vmlinuz-* >/dev/null
}

# The modules of some kernels leave the archive before the kernel does.
download_row() {
	local version package parts part
	read -r version package parts <<<"$ROW"
	cd "$1" || return
	for part in $parts; do
		case $part in linux-modules-*)
			[ -n "$(of_suites apt-cache show "$part=$version" 2>/dev/null)" ] || continue
			;;
		esac
		download . "$part=$version" || return
	done
}

# Downloads and unpacks the package of ROW into the cache, completely or not at all. Sets DIR. One with other
# modules is replaced.
fetch_row() {
	local version package parts tmp
	read -r version package parts <<<"$ROW"
	DIR=$CACHE/kernels/${package}_${version//[^0-9A-Za-z.+~-]/_}
	! cached "$DIR" || ! grep -qsx "$MODULES" "$DIR/wanted" || return 0
	tmp=$(cache_begin) || return
	(download_row "$tmp") >"$CACHE/download.log" 2>&1 && mkdir -p "$tmp/boot" "$tmp/modules" &&
		unpack_kernel "$tmp" && unpack_modules "$tmp" &&
		rm -rf "$tmp/lib" "$tmp/usr" "$tmp/modules" "$DIR" && cache_keep "$tmp" "$DIR" && return
	rm -rf "$tmp"
	return 1
}

# Sets DIR to the newest kernel in the cache that the argument names, where the archive cannot be read.
find_cached() {
	local name
	name=$(cd "$CACHE/kernels" 2>/dev/null && ls -d linux-image-*-"$FLAVOUR"_* | grep -v '\.sha256$' |
		grep -E "^linux-image-(${1/%.x/\\.[0-9]+})[.+-]" | sort -V | tail -n 1)
	DIR=$CACHE/kernels/$name
	[ -n "$name" ] && cached "$DIR"
}

# unpacked PACKAGE: prints the directory in the cache with the files of a package of the configured suites,
# for FLAVOUR's architecture. Downloads it if it is not there.
unpacked() {
	local dir tmp
	dir=$CACHE/packages/$1_$(architecture)
	cached "$dir" || {
		is_machines || need_rows
		tmp=$(cache_begin) || return
		{ download "$tmp" "$1" || { refresh && download "$tmp" "$1"; }; } && cache_keep "$tmp" "$dir" || {
			rm -rf "$tmp"
			return 1
		}
	} >"$CACHE/download.log" 2>&1
	echo "$dir"
}

# download DIR PACKAGE…: downloads and unpacks them.
download() {
	local dir=$1 deb
	shift
	cd "$dir" && of_suites apt-get download -qq "$@" || return
	for deb in ./*.deb; do
		dpkg-deb -x "$deb" . && rm -- "$deb" || return
	done
}

# Sets BUSYBOX, the guest's shell.
find_busybox() {
	BUSYBOX=$(command -v busybox)
	[ "$(architecture)" != "$(dpkg --print-architecture)" ] || return 0
	BUSYBOX=$(SUITES=configured unpacked busybox-static)/bin/busybox
	[ -x "$BUSYBOX" ]
}

why_not_found() {
	if [ -n "${ROWS[$FLAVOUR-other]:-}" ]; then
		echo 'no suite of the archive has such a kernel'
	else
		echo "the configured suites have no such kernel, the archive's others cannot be read:" \
			"$(grep -m 1 '^E' "$(own_lists)/update.log" 2>/dev/null)"
	fi
}

# prepare_kernel KERNEL LABEL: finds and fetches it. Sets DIR, or prints the reason. If a newer package
# replaced it since the lists were read, it tries again. Only the configured suites are certain to exist.
prepare_kernel() {
	case $1 in own-*)
		DIR=$CACHE/kernels/$1
		[ -n "$(find "$DIR/boot" -name 'vmlinuz-*' 2>/dev/null)" ] || {
			echo "skip $2: there is no $DIR/boot/vmlinuz-*"
			return 1
		}
		mkdir -p "$DIR/modules" && unpack_modules "$DIR"
		return
		;;
	esac
	if ! find_kernel "$1" && ! { refresh && find_kernel "$1"; }; then
		! find_cached "$1" || return 0
		echo "skip $2: $(why_not_found)"
	elif ! fetch_row && ! { refresh && find_kernel "$1" && fetch_row; }; then
		! find_cached "$1" || return 0
		[ "$SUITES" = configured ] && echo -n 'not ok' || echo -n skip
		echo " $2: cannot download $(cut -d ' ' -f 2 <<<"$ROW")"
	else
		return 0
	fi
	return 1
}
