// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// OOM kills in words, for the live page.

function limitText(e) {
	if (e.constraint === null)
		return 'limit not known';
	const where = e.constraint === 'none' ? 'the machine' : visible(e.cgroup ?? e.constraint);

	return `limit of ${where}${e.limit_bytes === null ? '' : `, ${sizeText(e.limit_bytes)}`}`;
}

function heldBytes(v) {
	return v.rss_anon_bytes === null || v.swap_bytes === null ? null : v.rss_anon_bytes + v.swap_bytes;
}

/** A process that was killed, or received a signal: its name, its PID, its memory. */
function victimText(v) {
	return `${visible(v.name ?? v.comm ?? ABSENT)}${v.pid === null ? '' : `, PID ${v.pid}`}, held ${sizeText(heldBytes(v))}`;
}

/** What was killed, and for which limit. */
function killText(e) {
	return `${victimText(e.victim)} · ${limitText(e)}`;
}
