// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The page of files: the document zmem.files as a table, and as a map by mount point, directory and
// file. Sizes are bytes in RAM and in swap.

const ITEMS = ['file', 'files'];
const NAME_CHARS = 44;
const COLUMNS = [
	{key: 'name', header: 'NAME', kind: 'text', chars: NAME_CHARS, limit: NAME_CHARS, help: 'the path, or the name that its creator gave'},
	{key: 'resident_bytes', header: 'RESIDENT', kind: 'bytes', help: 'bytes in RAM'},
	{key: 'swapped_bytes', header: 'SWAPPED', kind: 'bytes', help: 'bytes in swap, of shared memory and tmpfs'},
	{key: 'size_bytes', header: 'SIZE', kind: 'bytes', help: 'the size of the file, which may have holes'},
	{key: 'kind', header: 'KIND', kind: 'text', chars: 11, help: 'tmpfs, memfd, sysv, shared_anon, drm, file, block, hugetlb, ramfs or other'},
	{key: 'fs', header: 'FS', kind: 'text', chars: 9, help: 'the type of the file system'},
	{key: 'state', header: 'STATE', kind: 'text', chars: 20, help: 'mapped by a process, dirty, deleted, dest (a removed segment), unevictable, hidden by a mount'},
	{key: 'mount', header: 'MOUNT', kind: 'text', chars: 16, help: 'the mount point'},
	{key: 'inode', header: 'INODE', kind: 'number', help: 'the number of the inode'},
];
const FILES = {key: 'files', header: 'FILES', kind: 'number', help: 'the number of files'};
const FILE_GROUPS = {fs: 'file system', mount: 'mount point', kind: 'kind', dir: 'directory'};
// The parts of tree.js that files have: anonymous memory belongs to no file.
const PARTS = new Set(['file', 'shmem', 'swap']);

Object.assign(LEVELS, {mount: {label: 'mount'}, dir: {label: 'directory'}, file: {label: 'file'}});

const chosen = {
	levels: ['mount', 'dir', 'file', 'kind'],
	kinds: new Set(PARTS),
	group: '',
	sort: null, // {key, down}, null: as the document is sorted
	columns: COLUMNS.map(c => c.key).filter(key => key !== 'inode'),
};

let shown = null, files = [], others = null; // shown: the document
const view = new View('', document, {detail: detailOf, zoomed: showZoomed, nothing: 'Nothing to draw: no file has pages.'});
const table = new Table(sortBy);

/** A file of the document, with texts that can be shown. */
function readFile(f) {
	const before = f.path_truncated && f.mount === null ? '…' : f.mount === null ? `${f.fs}:` : '';
	const path = f.path === null ? null : visible(before + f.path), name = path ?? (f.name === null ? `inode ${f.inode}` : visible(f.name) + (f.shmid === null ? '' : ` shmid ${f.shmid}`));
	const mount = f.mount === null ? path === null ? 'no mount' : 'not mounted here' : visible(f.mount);
	const state = ['mapped', 'dirty', 'deleted', 'dest', 'unevictable', 'hidden'].filter(key => f[key]).join(',');
	const dir = path === null ? f.kind : path.slice(0, path.lastIndexOf('/') || 1);
	const rest = path !== null && f.mount !== null && f.mount !== '/' && path.startsWith(`${mount}/`) ? path.slice(mount.length) : path;

	return {...f, name, mount, state, dir, hex: f.path_hex ?? f.name_hex, fs: visible(f.fs),
		steps: [path === null ? f.kind : f.mount === null ? `${visible(f.fs)}, not mounted here` : mount, ...(rest ?? name).split(path === null ? null : '/').filter(Boolean)]};
}

/** What the document leaves out, by size. */
function readOthers(doc) {
	const rest = {files: doc.totals.files - files.length};

	for (const key of ['resident_bytes', 'swapped_bytes', 'size_bytes'])
		rest[key] = doc.totals[key] - files.reduce((n, f) => n + f[key], 0);
	return rest.files ? rest : null;
}

function show(doc) {
	const c = doc.collection;

	shown = doc;
	files = doc.files.map(readFile);
	others = readOthers(doc);
	byId('host').textContent = visible(doc.host.name);
	byId('about').textContent = [`Linux ${visible(doc.host.kernel_release)}`, visible(doc.host.arch), timeText(doc.timestamp_ms)].join(' · ');
	byId('about').title = `UTC: ${utcText(doc.timestamp_ms)}`;
	byId('badge').textContent = c.complete ? '✓ complete' : !c.unsure ? `not listed, if any: ${c.not_listed.join(', ')}` : `! ${c.unsure} of ${countText(c.file_systems, 'file system')} changed while read`;
	byId('badge').className = !c.unsure ? 'badge' : 'badge bad';
	byId('summary').textContent = `${countText(doc.totals.files, ...ITEMS)} of ${countText(c.file_systems, 'file system')}`;
	byId('made').textContent = `zmem-bpf ${visible(doc.tool.version)}`;
	byId('table-title').textContent = 'Files';
	byId('map-title').textContent = 'Files by mount point and directory';
	byId('map').textContent = 'Files by directory.';
	byId('machine').ariaLabel = 'Sums of all files';
	byId('query').placeholder = 'path, name, kind';
	byId('levels').hidden = true;
	showSums(doc.totals);
	showChoices();
	showMap();
	showTable();
	byId('page').hidden = false;
}

/** The sums of all files beside those of the kernel. */
function showSums(t) {
	const compare = (name, listed, kernel) => kernel === null ? [] :
		[element('p', {className: 'muted small'}, `${name}: the kernel has ${sizeText(kernel)}, difference ${sizeText(kernel - listed)}.`)];

	byId('machine').replaceChildren(gauge('Files', 'in RAM and in swap', t.shmem_listed_bytes + t.cache_listed_bytes + t.hugetlb_listed_bytes + t.shmem_swapped_bytes, [
		['shared memory, tmpfs', 'shmem', t.shmem_listed_bytes, 'Shmem: freed when files are deleted, or processes end'],
		['page cache', 'file', t.cache_listed_bytes - t.cache_unevictable_bytes, 'Cached + Buffers - Shmem: the kernel frees it when memory is needed'],
		['ramfs', 'kernel', t.cache_unevictable_bytes, 'page cache that the kernel cannot free'],
		['huge pages', 'hugetlb', t.hugetlb_listed_bytes, 'files of the pool of huge pages'],
		['in swap', 'swap', t.shmem_swapped_bytes, 'shared memory and tmpfs in swap'],
	].filter(([, , bytes]) => bytes)), ...compare('Shared memory, tmpfs', t.shmem_listed_bytes, t.shmem_bytes),
	...compare('Page cache', t.cache_listed_bytes, t.cache_bytes));
}

function showChoices() {
	const group = byId('group');

	putButtons('kinds', [{key: 'file', label: 'page cache'}, {key: 'shmem', label: 'shared memory, tmpfs'}, {key: 'swap', label: 'swap'}]
		.map(k => ({...k, swatch: k.key})), key => chosen.kinds.has(key), key => {
		if (!chosen.kinds.delete(key))
			chosen.kinds.add(key);
	}, showAll);
	group.replaceChildren(element('option', {value: ''}, 'nothing'),
		...Object.entries(FILE_GROUPS).map(([value, label]) => element('option', {value}, label)));
	group.value = chosen.group;
	byId('columns').replaceChildren(...COLUMNS.slice(1).map(c => {
		const box = element('input', {type: 'checkbox', checked: chosen.columns.includes(c.key)});

		box.addEventListener('change', () => {
			chosen.columns = COLUMNS.map(column => column.key)
				.filter(key => key === c.key ? box.checked : chosen.columns.includes(key));
			showTable();
		});
		return element('label', {title: c.help}, box, c.header);
	}));
}

/** [anon, file, shmem, swap] of a file or of the others. */
function partsOf(f) {
	const shmem = f.dirty === null;

	return [null, shmem ? null : f.resident_bytes, shmem ? f.resident_bytes : null, f.swapped_bytes];
}

function showMap() {
	const root = newFrame(null, 'all', 'all', 'all files'), index = new Map([[root, new Map()]]);

	for (const f of files) {
		let frame = root;

		root.rows++;
		f.steps.forEach((step, i) => {
			const level = i === 0 ? 'mount' : i === f.steps.length - 1 ? 'file' : 'dir';
			const id = `${level === 'file' ? f.inode : ''}/${step}`, below = index.get(frame);
			let next = below.get(id);

			if (!next) {
				next = newFrame(frame, level, id, step);
				below.set(id, next);
				index.set(next, new Map());
				frame.children.push(next);
			}
			next.rows++;
			frame = next;
		});
		f.frame = frame;
		addLeaf(frame, partsOf(f), chosen.kinds, true);
	}
	for (const f of files) {
		f.above = new Set();
		for (let frame = f.frame; frame; frame = frame.parent)
			f.above.add(frame);
	}
	prune(root);
	root.children.forEach(joinSingles);
	view.withKinds = true;
	view.show(root);
}

/** The files of the frame that the map is zoomed into, filtered by the search. */
function chosenRows() {
	const needle = view.query.toLowerCase();
	const inside = view.top.level === 'rest' ? view.top.children : [view.top];
	const hit = f => needle === '' || [f.name, f.kind, f.fs, f.mount].some(text => text.toLowerCase().includes(needle));

	return files.filter(f => (view.top === view.root || inside.some(frame => f.above.has(frame))) && hit(f));
}

/** Both ends of a path tell more than its beginning. */
function cutName(name) {
	return name.length <= NAME_CHARS ? name : `${name.slice(0, NAME_CHARS / 3)}…${name.slice(1 - 2 * NAME_CHARS / 3)}`;
}

const collator = new Intl.Collator('en', {numeric: true});

/** Rows of the table: files, or groups with the sums of their files. Texts are sorted by their rank. */
class FileRows {
	constructor(items) {
		this.items = items;
		this.ranks = new Map();
	}

	get length() {
		return this.items.length;
	}

	number(key, i) {
		const v = this.items[i][key];

		if (typeof v !== 'string')
			return v ?? null;
		if (!this.ranks.has(key)) {
			const texts = [...new Set(this.items.map(item => item[key]))].sort(collator.compare);

			this.ranks.set(key, new Map(texts.map((text, rank) => [text, rank])));
		}
		return this.ranks.get(key).get(v);
	}

	cell(key, i) {
		const item = this.items[i], v = item[key];

		if (v === undefined)
			return {text: ''};
		if (key.endsWith('_bytes'))
			return {text: sizeText(v), title: exactText(v)};
		return {text: key === 'name' ? cutName(v) : String(v), title: key === 'name' && item.hex ? `${v}\nbytes: ${item.hex}` : String(v)};
	}
}

function groupsOf(rows, key) {
	const groups = new Map();

	for (const f of rows) {
		if (!groups.has(f[key]))
			groups.set(f[key], {name: f[key], files: 0, resident_bytes: 0, swapped_bytes: 0, size_bytes: 0});
		addSums(groups.get(f[key]), {...f, files: 1});
	}
	return [...groups.values()].sort((a, b) => b.resident_bytes + b.swapped_bytes - a.resident_bytes - a.swapped_bytes);
}

function addSums(sums, f) {
	for (const key of ['files', 'resident_bytes', 'swapped_bytes', 'size_bytes'])
		sums[key] += f[key];
}

function showTable() {
	const rows = chosenRows(), rest = view.query === '' && view.top === view.root ? others : null;
	const lines = new FileRows(chosen.group ? groupsOf(rows, chosen.group) : rows);
	const columns = chosen.group ? [COLUMNS[0], FILES, ...COLUMNS.filter(c => c.kind === 'bytes' && chosen.columns.includes(c.key))] :
		COLUMNS.filter(c => chosen.columns.includes(c.key));
	const sums = {files: 0, resident_bytes: 0, swapped_bytes: 0, size_bytes: 0}, foot = [];
	const cellOf = of => key => ({text: key.endsWith('_bytes') ? sizeText(of[key]) : key === 'files' ? of.files.toLocaleString('en-US') : ''});

	for (const f of rows)
		addSums(sums, {...f, files: 1});
	if (rest) {
		addSums(sums, rest);
		foot.push({label: `${rest.files.toLocaleString('en-US')} more`, className: 'others', cell: cellOf(rest)});
	}
	foot.push({label: `sum of ${sums.files.toLocaleString('en-US')}`, cell: cellOf(sums)});
	if (chosen.sort && !columns.some(c => c.key === chosen.sort.key))
		chosen.sort = null;
	byId('table-count').textContent = (rows.length === shown.totals.files ? countText(rows.length, ...ITEMS) :
		`${rows.length.toLocaleString('en-US')} of ${countText(shown.totals.files, ...ITEMS)}`) +
		(chosen.group ? ` in ${countText(lines.length, 'group')}` : '') + (view.top === view.root ? '' : `, of ${view.top.label}`);
	table.show(lines, columns, chosen.sort, foot);
}

/** Sizes and numbers descending first, texts ascending; a second call reverses. */
function sortBy(key) {
	const text = COLUMNS.find(c => c.key === key)?.kind === 'text';

	chosen.sort = {key, down: chosen.sort?.key === key ? !chosen.sort.down : !text};
	showTable();
	byId('scroller').scrollTop = 0;
}

show(JSON.parse(byId('data').textContent));
performance.mark('zmem-shown');
