# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# For tests/deb: a Debian for one test, removed at the end. It lies over what debootstrap makes, which is in
# the cache, as are the packages that the test installs. It uses the package sources of this machine.
# [SUITE=trixie] . "$(dirname "$0")/root.sh" NAME

[ -n "${ROOT_SH:-}" ] || exec env ROOT_SH=1 unshare -m "$0"
# shellcheck source=tests/support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need bpf "$1" || exit 0
export SUITE=${SUITE:-bookworm}
SOURCE=$(realpath "$(dirname "$0")/../..")
# shellcheck source=tests/support/cache.sh
. "$SOURCE/tests/support/cache.sh"
LAYER=$O/debian/$1
ROOT=$LAYER/root

# Lines of sources.list. A suite that this machine does not use comes from the archives of the suite that it uses.
sources() {
	# shellcheck disable=SC2016
	apt-get indextargets --format 'deb $(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
		awk -v suite="$SUITE" -v own="$(. /etc/os-release && echo "$VERSION_CODENAME")" '
			$3 == suite || index($3, suite "-") == 1 { there[$0] }
			$3 == own || index($3, own "-") == 1 && suite != "sid" { sub(own, suite, $3); other[$0] }
			END {
				if (length(there)) { for (line in there) print line }
				else for (line in other) print line
			}' | sort -u
}

# Sets BASE to a Debian of the sources of today. Those of other sources stay in the cache.
make_base() {
	local from new
	BASE=$CACHE/debian/$SUITE-$(sources | sha256sum | cut -c 1-12)
	! cached "$BASE" || return 0
	from=$(sources | awk -v suite="$SUITE" '$3 == suite && $4 == "main" { print $2; exit }')
	new=$(cache_begin) && debootstrap --variant=minbase "$SUITE" "$new" "$from" >"$CACHE/debootstrap.log" 2>&1 &&
		sources >"$new/etc/apt/sources.list" && rm -f "$new"/var/cache/apt/archives/*.deb && chmod 755 "$new" || {
		rm -rf --one-file-system "$new"
		return 1
	}
	apt-config dump | grep -E '^Acquire::(http|https|Check-|Retries)' >"$new/etc/apt/apt.conf.d/00host"
	cache_keep "$new" "$BASE"
}

# inside COMMANDS: runs them there as root, with no variables of our environment but those of the proxy.
inside() {
	chroot "$ROOT" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TERM=linux \
		DEBIAN_FRONTEND=noninteractive ${http_proxy:+"http_proxy=$http_proxy"} \
		${https_proxy:+"https_proxy=$https_proxy"} bash -e -c "$1"
}

# done_inside NAME COMMANDS: passes if they succeed; their output is in $TMP/out and $TMP/err.
done_inside() {
	local name=$1
	run inside "$2"
	if [ "$rc" = 0 ]; then
		ok "$name"
	else
		not_ok "$name" "exit code $rc: $(tail -n 15 "$TMP/out" "$TMP/err")"
		return 1
	fi
}

# No file is removed through a mount.
root_end() {
	umount -R "$ROOT" || exit 1
	rm -rf --one-file-system "$LAYER"
	lib_cleanup
}

if ! make_base; then
	skip "$1" "debootstrap: $(tail -n 1 "$CACHE/debootstrap.log")"
	exit 0
fi
rm -rf --one-file-system "$LAYER"
mkdir -p "$LAYER/upper" "$LAYER/work" "$ROOT"
mount -t overlay -o "lowerdir=$BASE,upperdir=$LAYER/upper,workdir=$LAYER/work" overlay "$ROOT" || exit 1
trap root_end EXIT
mount -t proc proc "$ROOT/proc"
mount -t tmpfs tmpfs "$ROOT/run"
for directory in /sys /dev; do
	mount --rbind "$directory" "$ROOT$directory"
done
mkdir -p "$CACHE/debian/archives/$1/partial"
mount --bind "$CACHE/debian/archives/$1" "$ROOT/var/cache/apt/archives"
cp -L /etc/resolv.conf /etc/hosts "$ROOT/etc/"

# All files except the private files of apt, dpkg and passwd.
files() {
	inside 'find / -xdev ! -path "/tmp/*" ! -path "/root/*" ! -path "/clone*" ! -path "/var/cache/*" \
		! -path "/var/log/*" ! -path "/var/lib/apt/*" ! -path "/var/lib/dpkg/*" ! -path "/etc/*-" \
		! -path "/etc/ld.so.cache" ! -type d -printf "%p %m %u:%g\n" | sort'
}

# check_package FILE: installs, uses and purges it in the root that has its dependencies.
check_package() {
	cp "$1" "$ROOT/tmp/zmem-bpf.deb"
	done_inside 'apt update' 'apt-get -q update && apt-get -qy install --no-install-recommends man-db bash-completion zsh'
	done_inside 'apt install ./zmem-bpf.deb' 'cd /tmp && apt-get -qy install ./zmem-bpf.deb'
	done_inside 'the group zmem exists' 'getent group zmem'
	done_inside 'the user zmem-bpf exists, with its own group' '[ "$(id -Gn zmem-bpf)" = zmem-bpf ]'
	done_inside 'the pin alone is enabled' '[ "$(find /etc/systemd -name "zmem*" -printf "%f ")" = "zmem-bpf-pin.service " ]'
	done_inside 'the program runs' 'zmem-bpf -J'
	check 'with values of the kernel' jq -e '.source.counters == "bpf" and (.source.pss | IN("kernel", "mixed")) and
		(.processes | length > 0)' "$TMP/out"
	done_inside 'serve has its library' 'zmem-bpf doctor | grep -E "^serve +ok "'
	done_inside 'man finds the page' 'MANPAGER=cat man zmem-bpf'
	expect_out 'and shows it' 'show the memory and swap of every process'
	done_inside 'bash completes' '. /usr/share/bash-completion/bash_completion; _completion_loader zmem-bpf ||
		[ $? = 124 ]; set +e; COMP_WORDS=(zmem-bpf sna) COMP_CWORD=1 COMP_LINE="zmem-bpf sna" COMP_POINT=12
		function=$(complete -p zmem-bpf | sed "s/.*-F \([^ ]*\).*/\1/"); "$function" zmem-bpf sna zmem-bpf
		echo "${COMPREPLY[@]}"'
	expect_out 'bash: a command' '^snapshot'
	cp "$SOURCE/tests/support/complete.zsh" "$ROOT/tmp"
	done_inside 'zsh completes' 'zsh -f /tmp/complete.zsh /none /tmp/typed "zmem-bpf sna"; cat /tmp/typed'
	expect_out 'zsh: a command' '^line zmem-bpf snapshot'
	done_inside 'pinned by hand' 'zmem-bpf pin && zmem-bpf --pinned -q && zmem-bpf pin zmem && zmem-bpf --pinned -q'
	done_inside 'apt purge' 'apt-get -qy purge zmem-bpf'
	done_inside 'the pin is removed with it' '[ ! -e /run/zmem-bpf ] && ! grep /run/zmem-bpf /proc/mounts'
	files >"$TMP/purged"
	check 'no file of it is left' sh -c '! grep zmem "$0"' "$TMP/purged"
	done_inside 'its name is not in /etc' '! grep -rl zmem /etc --exclude="*-"'
	done_inside 'installed and purged again' 'cd /tmp && apt-get -qy install ./zmem-bpf.deb && apt-get -qy purge zmem-bpf'
	files >"$TMP/again"
	check 'installed and purged again: the same files' diff "$TMP/purged" "$TMP/again"
}
