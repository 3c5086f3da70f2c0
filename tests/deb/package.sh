#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# make deb: what is in the package, and that it comes and goes without a trace.
. "$(dirname "$0")/root.sh" package

run_expect 0 'make deb, with lintian' make --no-print-directory -C "$SOURCE" O="${O#"$SOURCE"/}" deb
package=$(find "$O" -maxdepth 1 -name 'zmem-bpf_*.deb')
equal 'one package' "$(grep -c . <<<"$package")" 1
[ -f "$package" ] || exit

{
	echo '755 usr/bin/zmem-bpf'
	echo '644 lib/systemd/system/zmem-bpf-pin.service'
	echo '644 lib/systemd/system/zmem-bpf-record.service'
	echo '644 lib/systemd/system/zmem-bpf.service'
	echo '644 usr/lib/python3/dist-packages/zmem_bpf.py'
	(cd "$SOURCE/include" && printf '644 usr/include/%s\n' zmem/read.h zmem/record.h zmem/setup.h)
	echo '644 usr/share/bash-completion/completions/zmem-bpf'
	echo '644 usr/share/doc/zmem-bpf/README.md.gz'
	echo '644 usr/share/doc/zmem-bpf/changelog.gz'
	echo '644 usr/share/doc/zmem-bpf/copyright'
	(cd "$SOURCE/src/man" && ls ./*.[1-9]; echo ./zmem-bpf-columns.7; echo ./zmem-bpf-findings.7; echo ./zmem-bpf-json.5) |
		sed 's|^\./\(.*\)\.\(.\)$|644 usr/share/man/man\2/\1.\2.gz|'
	echo '644 usr/share/zsh/vendor-completions/_zmem-bpf'
	sed -n 's|^document \([^ ]*\) .*|644 usr/share/zmem-bpf/\1.schema.json|p' "$SOURCE/src/dist/documents.txt"
	cd "$SOURCE/src/dist" && find . -type f ! -name '*.mk' ! -name image.py ! -name 'documents.*' ! -path './python/*' ! -path './completion/*' ! -path './systemd/*' ! -path './debian/*' \
		-printf '644 usr/share/zmem-bpf/%P\n'
} | sort >"$TMP/wanted"
mkdir "$TMP/in"
dpkg-deb -x "$package" "$TMP/in"
(cd "$TMP/in" && find . ! -type d -printf '%m %P\n' | sort) >"$TMP/there"
check 'the contents and their modes' diff "$TMP/wanted" "$TMP/there"
check 'its module of Python' env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$TMP/in/usr/lib/python3/dist-packages" python3 -c \
	'import zmem_bpf; zmem_bpf.snapshot'
check 'its example in C compiles' cc -Wall -Werror -fsyntax-only -I "$TMP/in/usr/include" "$TMP/in/usr/share/zmem-bpf/examples/pss.c"
equal 'the unit names its program' "$(sed -n 's/^ExecStart=//p' "$TMP/in/lib/systemd/system/zmem-bpf.service")" \
	'/usr/bin/zmem-bpf serve $OPTIONS'
check 'it does not depend on libmicrohttpd' sh -c 'dpkg-deb -f "$0" Depends | grep -v microhttpd' "$package"
equal 'it recommends the libraries of grow and of serve' "$(dpkg-deb -f "$package" Recommends)" \
	'libdw1 | libdw1t64, libmicrohttpd12 | libmicrohttpd12t64'

# ---- upgrades ----

# rights: owner, group, mode and capabilities of the installed program
rights() {
	local file=$ROOT/usr/bin/zmem-bpf
	echo "$(inside "stat -c '%U %G %a' /usr/bin/zmem-bpf") $(getcap "$file" | sed 's/^[^ ]* *//')"
}
# newer VERSION: a package of that version, with another program, as /tmp/VERSION.deb of the root
newer() {
	rm -rf "$TMP/new" && dpkg-deb -R "$package" "$TMP/new" && sed -i "s/^Version: .*/Version: $1/" "$TMP/new/DEBIAN/control" &&
		printf '\n%s\n' "$1" >>"$TMP/new/usr/bin/zmem-bpf" && dpkg-deb --root-owner-group -Znone -b "$TMP/new" "$ROOT/tmp/$1.deb" >/dev/null
}
# is_new VERSION: that program is installed
is_new() {
	[ "$(tail -n 1 "$ROOT/usr/bin/zmem-bpf")" = "$1" ]
}
cp "$package" "$ROOT/tmp/first.deb"
for version in 99.1 99.2 99.3 99.4; do
	check "a package $version" newer $version
done
done_inside 'a first installation' 'apt-get -q update && apt-get -qy install --no-install-recommends /tmp/first.deb'
equal 'a first installation gives no right' "$(rights)" 'root root 755 '
done_inside 'upgrade' 'dpkg -i /tmp/99.1.deb'
check 'upgrade: the program is new' is_new 99.1
equal 'upgrade: no right comes from nowhere' "$(rights)" 'root root 755 '
caps=cap_sys_ptrace,cap_perfmon,cap_bpf=ep
done_inside 'a group' 'addgroup --quiet --system memory && chgrp memory /usr/bin/zmem-bpf && chmod 0750 /usr/bin/zmem-bpf'
setcap $caps "$ROOT/usr/bin/zmem-bpf"
equal 'an administrator gives rights' "$(rights)" "root memory 750 $caps"
done_inside 'upgrade with rights' 'dpkg -i /tmp/99.2.deb'
check 'upgrade with rights: the program is new' is_new 99.2
equal 'upgrade with rights: they are kept' "$(rights)" "root memory 750 $caps"
done_inside 'a member measures all processes' 'setpriv --reuid=65534 --regid=65534 --groups="$(getent group memory |
	cut -d: -f3)" --inh-caps=-all zmem-bpf -J'
check 'with values of the kernel' jq -e '.source.counters == "bpf" and (.collection | .complete == (.not_seen == 0))' "$TMP/out"
done_inside 'upgrade, unpacked twice while the program runs' 'dpkg --unpack /tmp/99.3.deb && dpkg --unpack /tmp/99.3.deb
	zmem-bpf watch -i 100 >/tmp/watch & until [ -s /tmp/watch ] || ! kill -0 $!; do sleep 0.1; done; dpkg --configure zmem-bpf; kill $!'
check 'unpacked twice: the program is new' is_new 99.3
equal 'unpacked twice: rights are kept' "$(rights)" "root memory 750 $caps"
done_inside 'an override' 'dpkg-statoverride --update --add root memory 0710 /usr/bin/zmem-bpf'
setcap $caps "$ROOT/usr/bin/zmem-bpf"
done_inside 'upgrade with an override' 'dpkg -i /tmp/99.4.deb'
check 'upgrade with an override: the program is new' is_new 99.4
equal 'upgrade with an override: owner and mode are its, capabilities are kept' "$(rights)" "root memory 710 $caps"
done_inside 'nothing of the upgrade is left' '! ls -d /var/lib/zmem-bpf* /usr/bin/zmem-bpf.*'
done_inside 'the override and the package are removed' 'dpkg-statoverride --remove /usr/bin/zmem-bpf &&
	apt-get -qy purge zmem-bpf && delgroup --quiet memory'
done_inside 'installed again' 'dpkg -i /tmp/first.deb'
equal 'installed again: no right is left' "$(rights)" 'root root 755 '
done_inside 'purged again' 'apt-get -qy purge zmem-bpf'
check_package "$package"
