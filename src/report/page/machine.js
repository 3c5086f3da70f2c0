// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The head of the page: which machine was measured, how, and whether the data are complete; and the
// bars of the machine.

function showHead(doc) {
	const {host, collection: c} = doc;
	const missing = [['denied', c.denied], ['timeout', c.timeout], ['raced', c.raced]]
		.filter(([, n]) => n).map(([word, n]) => `${n} ${word}`);
	const different = c.cross_check?.different;
	const badge = byId('badge');

	byId('host').textContent = visible(host.name);
	byId('about').textContent = [`Linux ${visible(host.kernel_release)}`, visible(host.arch),
		countText(host.cpus, 'CPU'), timeText(doc.timestamp_ms)].join(' · ');
	byId('about').title = `UTC: ${utcText(doc.timestamp_ms)}`;
	showPressure(doc.system);
	badge.textContent = different ? `✗ ${different} different` : c.complete ? '✓ complete' :
		`! incomplete${missing.length ? `: ${missing.join(', ')}` : ''}`;
	badge.className = c.complete && !different ? 'badge' : 'badge bad';
	byId('summary').textContent = visible(doc.summary);
	byId('made').textContent = `zmem-bpf ${visible(doc.tool.version)} · collected in ` +
		`${(c.duration_us / 1000).toFixed(1)} ms · ${countText(c.processes_seen, 'process', 'processes')} ` +
		`seen, ${c.kernel_threads} of them kernel threads`;
	document.title = `${visible(host.name)} · zmem-bpf`;
}

/** PSI of memory: how long tasks waited for memory in the last 10 seconds. */
function showPressure(s) {
	const place = byId('pressure'), some = s.psi_some_avg10_hundredths, full = s.psi_full_avg10_hundredths;
	const percent = hundredths => `${(hundredths / 100).toFixed(2)} %`;

	place.hidden = some === null;
	place.textContent = some === null ? '' : `Memory pressure: some ${percent(some)}, full ${percent(full)}`;
	place.title = 'The share of the last 10 seconds in which some tasks, or all tasks, waited for memory (PSI avg10).';
}

/** A bar of parts [name, class, bytes, help], with a legend in the same order. */
function gauge(title, note, total, parts) {
	const known = parts.filter(([, , bytes]) => bytes !== null && bytes !== undefined);
	const sum = Math.max(known.reduce((n, [, , bytes]) => n + Math.max(bytes, 0), 0), total, 1);
	const bar = element('div', {className: 'bar', role: 'img', 'aria-label': `${title}: ` + known
		.map(([name, , bytes]) => `${name} ${sizeText(bytes)}`).join(', ')});
	const legend = element('ul', {className: 'legend'});

	for (const [name, kind, bytes, help] of known) {
		const share = percentText(bytes, total);
		const segment = element('i', {className: kind,
			title: `${name}: ${sizeText(bytes)}, ${share}\n${help}`}, element('span', {}, name));

		segment.style.flex = `0 1 ${100 * Math.max(bytes, 0) / sum}%`;
		if (bytes > 0)
			bar.append(segment);
		legend.append(element('li', {title: help}, element('span', {className: `swatch ${kind}`}),
			element('span', {}, name), element('span', {title: exactText(bytes)}, sizeText(bytes)),
			element('span', {}, share)));
	}
	return element('div', {className: 'gauge'}, element('div', {className: 'gauge-head'},
		element('span', {}, element('b', {}, title), ` ${sizeText(total)}`),
		element('span', {className: 'muted'}, note)), bar, legend);
}

/** The bytes of each class of RAM, where page frames were counted; else null. */
function ramClasses(doc) {
	const ram = doc.system.ram;

	return ram && ram.method !== 'counters' ?
		Object.fromEntries(ram.classes.map(row => [row.class, row.bytes ?? 0])) : null;
}

/** The parts of RAM as the kernel counts them; in `total` there is no more. */
function countedParts(doc) {
	const {memory: m, user: u} = doc;

	return [
		['anonymous', 'anon', u.anon_bytes, 'private memory of processes (AnonPages)'],
		['shared memory', 'file', u.shmem_bytes, 'shared memory and tmpfs, mapped or not (Shmem)'],
		['cache', 'cache', m.cache_bytes, 'page cache of files and block devices, mapped or not'],
		['kernel', 'kernel', m.kernel_bytes, 'slab, page tables, stacks and others: see below'],
		['hugetlb', 'hugetlb', m.hugetlb_bytes, 'hugetlb pages, used or unused'],
		['not accounted for', 'lost', m.unaccounted_bytes, 'drivers, network, free lists of CPUs, swap cache'],
		['free', 'free', m.free_bytes, 'MemFree'],
	];
}

/** The parts of RAM by what each page frame is. */
function framedParts(classes) {
	const {anon, anon_unmapped: unmapped, shmem, page_cache: cache, hugetlb, reserved, balloon, free} = classes;
	const known = [anon, unmapped, shmem, cache, hugetlb, reserved, balloon, free];
	const sum = list => list.reduce((n, bytes) => n + (bytes ?? 0), 0);

	return [
		['anonymous', 'anon', sum([anon, unmapped]), 'memory of processes, mapped or not'],
		['shared memory', 'file', shmem, 'shared memory and tmpfs, mapped or not'],
		['cache', 'cache', cache, 'page cache of files and block devices, mapped or not'],
		['kernel', 'kernel', sum(Object.values(classes)) - sum(known), 'slab, page tables, drivers and others: see below'],
		['hugetlb', 'hugetlb', hugetlb, 'hugetlb pages, used or unused'],
		['reserved', 'lost', sum([reserved, balloon]), 'reserved at boot, or taken back by the host of a virtual machine'],
		['free', 'free', free, 'pages that nothing uses'],
	];
}

function ramGauge(doc) {
	const available = doc.system.memory_available_bytes, classes = ramClasses(doc);

	return gauge('RAM', available === null ? '' : `${sizeText(available)} available without swapping`,
		classes ? doc.system.ram.frames_bytes : doc.memory.total_bytes,
		(classes ? framedParts(classes) : countedParts(doc)).filter(([name, , bytes]) => bytes || name === 'free'));
}

function swapGauge(doc) {
	const s = doc.system, total = s.swap_total_bytes;
	const used = total === null || s.swap_free_bytes === null ? null : total - s.swap_free_bytes;
	const loose = s.swap_unattributed_bytes;
	const parts = loose === null ? [['used', 'swap', used, 'the owners are not known']] : [
		['processes', 'swap', Math.max(used - loose, 0), 'swap entries, divided by their sharers (SwapPss)'],
		['unattributed', 'lost', loose, 'swapped shared memory and tmpfs, swap cache'],
	];

	if (!total)
		return element('p', {className: 'gauge muted'}, total === 0 ? 'No swap.' : 'Swap: not known.');
	return gauge('Swap', `${sizeText(used)} used`, total,
		[...parts, ['free', 'free', s.swap_free_bytes, 'SwapFree']]);
}

/** The sizes of zram and zswap. */
function compressedText(s) {
	const ratio = (stored, used) => used > 0 ? `, ${(stored / used).toFixed(1)} : 1` : '';
	const lines = (s.zram ?? []).map(z => `${visible(z.name)}: ${sizeText(z.stored_bytes)} stored in ` +
		`${sizeText(z.used_bytes)} of RAM${ratio(z.stored_bytes, z.used_bytes)}`);

	if (s.zswap_stored_bytes)
		lines.push(`zswap: ${sizeText(s.zswap_stored_bytes)} stored in ` +
			`${sizeText(s.zswap_pool_bytes)} of RAM${ratio(s.zswap_stored_bytes, s.zswap_pool_bytes)}`);
	return lines.join(' · ');
}

/** What RAM holds in detail, and the differences between machine and processes. */
function kernelDetails(doc) {
	const classes = ramClasses(doc), list = element('ul', {className: 'legend'});
	const total = classes ? doc.system.ram.frames_bytes : doc.memory.total_bytes;
	const lines = Object.entries(classes ?? doc.kernel).filter(([, bytes]) => bytes || !classes)
		.map(([key, bytes]) => [key.replace(/_bytes$/, '').replace(/_/g, ' '), bytes]);

	if (classes)
		lines.sort((a, b) => b[1] - a[1]);
	lines.push(['AnonPages minus the sum of PSS_ANON', doc.system.anon_residual_bytes],
		['Mapped minus the sums of PSS_FILE, PSS_SHMEM', doc.system.mapped_residual_bytes]);
	for (const [name, bytes] of lines)
		list.append(element('li', {}, element('span', {}, name), element('span', {}, sizeText(bytes)),
			element('span', {}, percentText(bytes, total))));
	return element('details', {className: 'more'},
		element('summary', {}, `${classes ? 'RAM by page frame' : 'Kernel memory'}, and what the processes’ sums leave over`), list);
}

function showMachine(doc) {
	const place = byId('machine'), compressed = compressedText(doc.system);
	const open = place.querySelector('details')?.open;

	if (doc.memory.total_bytes === null) {
		place.replaceChildren(element('p', {className: 'muted'}, 'Not measured.'));
		return;
	}
	place.replaceChildren(ramGauge(doc), swapGauge(doc));
	if (compressed)
		place.append(element('p', {className: 'more'}, compressed));
	place.append(kernelDetails(doc));
	place.querySelector('details').open = Boolean(open);
}
