// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The head of the page: which machine was measured, how, and whether the data are complete; and the
// bars of the machine.

const WAIT_LEAST = 100; // hundredths of a percent of the time: below it nothing is slow

/** The class of a number: it is at its limit, changes now, or neither, as the findings with these keys say. */
function markOf({findings: list}, limits, changes = []) {
	const has = keys => list.some(f => keys.includes(f.key) && f.level !== 'hint');

	return has(limits) ? 'at-limit' : has(changes) ? 'changes' : 'muted';
}

function showHead(doc) {
	const {host, said, head} = doc;

	byId('host').textContent = visible(host.name);
	byId('about').textContent = [`Linux ${visible(host.kernel_release)}`, visible(host.arch),
		countText(host.cpus, 'CPU'), timeText(doc.timestamp_ms)].join(' · ');
	byId('about').title = `UTC: ${utcText(doc.timestamp_ms)}`;
	byId('pressure').hidden = said.pressure === null;
	byId('pressure').textContent = said.pressure ?? '';
	byId('pressure').className = head.psi_some_avg10_hundredths >= WAIT_LEAST ? 'changes' : 'muted';
	byId('pressure').title = 'The share of the last 10 seconds in which some tasks, or all tasks, waited for memory (PSI avg10).';
	byId('badge').textContent = said.badge;
	byId('badge').className = said.badge.startsWith('✓') ? 'badge' : 'badge bad';
	byId('summary').textContent = visible(doc.summary);
	byId('made').textContent = `zmem-bpf ${visible(doc.tool.version)} · ${said.made}`;
	document.title = `${visible(host.name)} · zmem-bpf`;
}

/** The sum of parts of RAM, each {name, bytes, below: its parts}. Those of the bar also have a color and a help. */
function sumOf(parts) {
	return parts.reduce((n, part) => n + (part.bytes ?? 0), 0);
}

/** "slab_reclaimable_bytes": "slab reclaimable" */
function wordsOf(key) {
	return key.replace(/_bytes$/, '').replace(/_/g, ' ');
}

// The parts of the bar: name, color, help, and the classes of page frames; the kernel has all others.
const RAM_PARTS = [
	['anonymous', 'anon', '', ['anon', 'anon_unmapped']],
	['shared memory', 'shmem', 'tmpfs too, mapped or not', ['shmem']],
	['cache', 'cache', 'of files and block devices, mapped or not', ['page_cache']],
	['kernel', 'kernel', 'slab, page tables, drivers and others', null],
	['hugetlb', 'hugetlb', 'used or unused', ['hugetlb']],
	['reserved', 'lost', 'at boot, or taken back by the host of a virtual machine', ['reserved', 'balloon']],
	['free', 'free', '', ['free']],
];

/** The parts of RAM as the kernel counts them. */
function countedParts({memory: m, user: u, kernel}) {
	const sizes = [u.anon_bytes, u.shmem_bytes, m.cache_bytes, m.kernel_bytes, m.hugetlb_bytes, m.unaccounted_bytes, m.free_bytes];
	const parts = RAM_PARTS.map(([name, color, help], i) => ({name, color, help, bytes: sizes[i], rows: []}));

	parts[3].rows = parts[3].below = Object.entries(kernel).map(([key, bytes]) => ({name: wordsOf(key), bytes}));
	Object.assign(parts[5], {name: 'not accounted for', help: 'drivers, network, free lists of CPUs, swap cache'});
	return parts;
}

/** The parts of RAM by what each page frame is. */
function framedParts(ram) {
	const named = RAM_PARTS.flatMap(([, , , classes]) => classes ?? []);

	return RAM_PARTS.map(([name, color, help, classes]) => {
		const rows = ram.classes.filter(row => classes ? classes.includes(row.class) : !named.includes(row.class))
			.map(row => ({name: wordsOf(row.class), bytes: row.bytes, reason: row.reason, below: row.parts}));
		const some = rows.filter(row => row.bytes);

		return {name, color, help, bytes: sumOf(rows), rows, below: some.length === 1 ? some[0].below : some};
	});
}

/** RAM and its parts: by page frame where frames were counted. */
function ramOf(doc) {
	const {ram} = doc.system;

	return ram && ram.method !== 'counters' ? {name: 'RAM', bytes: ram.frames_bytes, below: framedParts(ram), by: 'page frame'} :
		{name: 'RAM', bytes: doc.memory.total_bytes, below: countedParts(doc), by: 'counters'};
}

/** A part of RAM as a frame of the map. Parts that overlap are more than all of it: they have no place in it. */
function ramFrame(part, above) {
	const frame = newFrame(above, 'part', part.name, visible(part.name)), below = part.below ?? [];

	frame.value = part.bytes ?? 0;
	frame.color = part.color ?? above?.color;
	frame.help = part.help;
	if (sumOf(below) <= frame.value)
		frame.children = below.map(p => ramFrame(p, frame));
	return frame;
}

function ramDetail(frame) {
	return shareText(frame, ramView.root) + (frame.help ? `: ${frame.help}` : '');
}

const HEAD_COLORS = {processes: 'anon', processes_rest: 'anon', huge: 'hugetlb', compressed: 'swap', other: 'lost'};

/** The parts of RAM that add up to all of it, the largest first, with what holds most of each. */
function ramGauge(doc, ram) {
	const {head, said} = doc;

	return !head.parts.length ? gauge('RAM', '', ram.bytes, []) : gauge('RAM', said.ram ?? '', head.total_bytes, head.parts.map(({part, title, bytes, holders}) =>
		[title, HEAD_COLORS[part] ?? part, bytes, (holders ?? []).map(h => `${visible(h.name)} ${sizeText(h.bytes)}`).join(', '), true]), markOf(doc, ['ram_full']));
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
		return element('p', {className: 'gauge muted'}, doc.said.swap);
	return gauge('Swap', doc.said.swap, total, [...parts, ['free', 'free', s.swap_free_bytes, 'SwapFree']],
		markOf(doc, ['swap_full'], ['swapping']));
}

/** RAM as a map and a list, and the differences between machine and processes. */
function showRam(doc, ram) {
	const tree = ramFrame(ram, null), s = doc.system;
	const rows = ram.below.flatMap(part => part.rows).sort((a, b) => b.bytes - a.bytes);
	const lines = [...rows.filter(row => row.bytes !== 0),
		{name: 'AnonPages minus the sum of PSS_ANON', bytes: s.anon_residual_bytes},
		{name: 'Mapped minus the sums of PSS_FILE, PSS_SHMEM', bytes: s.mapped_residual_bytes}];

	prune(tree);
	ramView.show(tree);
	byId('ram-title').textContent = `Map of RAM by ${ram.by}, and what the processes’ sums leave over`;
	byId('ram-list').replaceChildren(...lines.map(({name, bytes, reason}) => element('li', {title: bytes === null ? reason ?? 'not known' : ''},
		element('span', {}, name), element('span', {className: bytes === null ? 'absent' : ''}, sizeText(bytes)),
		element('span', {}, percentText(bytes, ram.bytes)))));
}

/** The memory cgroups with the fullest limits. */
function showCgroups(list, found) {
	const held = new Set(found.filter(f => /^cgroup_(limit|high|full)$/.test(f.key)).map(f => f.cgroup));

	byId('cgroups').hidden = !list.length;
	byId('cgroup-list').replaceChildren(...list.map(c => element('li', {title: `anonymous ${sizeText(c.anon_bytes)}, ` +
		`shared memory ${sizeText(c.shmem_bytes)}, kernel ${sizeText(c.kernel_bytes)}`}, element('span', {}, visible(c.cgroup)),
	element('span', {}, `${sizeText(c.left_bytes)} left`), element('span', {className: held.has(c.cgroup) ? 'at-limit' : ''}, percentText(c.limit_bytes - c.left_bytes, c.limit_bytes)))));
}

function showMachine(doc) {
	const place = byId('bars'), more = ['zram', 'zswap'].map(key => doc.said[key]).filter(Boolean).join(' · '), known = doc.memory.total_bytes !== null;

	byId('ram').hidden = !known;
	if (!known) {
		place.replaceChildren(element('p', {className: 'muted'}, 'Not measured.'));
		return;
	}
	const ram = ramOf(doc);

	place.replaceChildren(ramGauge(doc, ram), swapGauge(doc));
	if (more)
		place.append(element('p', {className: `more ${markOf(doc, ['zram_full'])}`}, more));
	showRam(doc, ram);
	showCgroups(doc.head.cgroups, doc.findings);
}
