// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The choices of the reader, and show(), which builds the page from a document. show() may be
// called again with a newer document; the choices stay.

const chosen = {
	levels: ['user', 'unit', 'program', 'process', 'kind'],
	kinds: new Set(KINDS.map(k => k.key)),
	group: null, // keys of GROUPS with commas between them, '' for none, null: as the document says
	sort: null, // {key, down}, null: as the document is sorted
	columns: null, // keys, null: as the document says
};

const ITEMS = ['process', 'processes']; // what rows are

let data = null;
const view = new View('', document, {detail: detailOf, zoomed: showZoomed,
	nothing: 'Nothing to draw: no PSS and no swap was measured.'});
const ramView = new View('ram-', byId('ram'), {detail: ramDetail});
const table = new Table(sortBy);

function show(doc) {
	data = new Data(doc);
	chosen.group = chosen.group ?? (doc.group?.split(',').every(key => key in GROUPS) ? doc.group : '');
	chosen.columns = chosen.columns ?? firstColumns(doc);
	showHead(doc);
	showFindings(doc);
	showMachine(doc);
	showChoices();
	showMap();
	showTable();
	byId('page').hidden = false;
}

/** The name comes first and stays in sight; on a narrow screen sizes follow it. */
function firstColumns(doc) {
	const keys = doc.shown.filter(key => data.columns.has(key));
	const text = key => data.columns.get(key).kind !== 'bytes';
	const rest = keys.filter(key => key !== 'name');

	if (innerWidth < 640)
		rest.sort((a, b) => text(a) - text(b) || (b === 'pss') - (a === 'pss'));
	return ['name', ...rest];
}

function showChoices() {
	const order = ['user', 'container', 'unit', 'program', 'process', 'kind'];
	const group = byId('group');

	putButtons('levels', order.map(key => ({key, label: key})),
		key => chosen.levels.includes(key), key => {
			chosen.levels = order.filter(k => (k === key) !== chosen.levels.includes(k));
		}, showAll);
	putButtons('kinds', KINDS.map(k => ({...k, swatch: k.key})), key => chosen.kinds.has(key), key => {
		if (!chosen.kinds.delete(key))
			chosen.kinds.add(key);
	}, showAll);
	group.replaceChildren(element('option', {value: ''}, 'nothing'),
		...Object.entries(GROUPS).filter(([key]) => data.columns.has(key)).map(([value, label]) => element('option', {value}, label)));
	if (chosen.group.includes(','))
		group.append(element('option', {value: chosen.group}, chosen.group.split(',').map(key => GROUPS[key]).join(', ')));
	group.value = chosen.group;
	showPicker();
}

function showPicker() {
	byId('columns').replaceChildren(...[...data.columns.values()].filter(c => c.key !== 'name').map(c => {
		const box = element('input', {type: 'checkbox', checked: chosen.columns.includes(c.key)});

		box.addEventListener('change', () => {
			chosen.columns = chosen.columns.filter(key => key !== c.key);
			if (box.checked)
				chosen.columns.push(c.key);
			showTable();
		});
		return element('label', {title: c.help}, box, c.header);
	}));
}

function showMap() {
	const levels = chosen.levels.filter(key => key !== 'kind');

	view.withKinds = chosen.levels.includes('kind');
	view.show(buildTree(data, levels, chosen.kinds, view.withKinds));
	byId('map-note').textContent = view.root.missing ?
		`${countText(view.root.missing, ...ITEMS)} without measured PSS left out.` : '';
}

/** The rows of the frame that the map is zoomed into, filtered by the search. */
function chosenRows() {
	const steps = pathOf(view.top).filter(f => f.level in LEVELS).map(f => [f.level, new Set([f.id])]);
	const matches = view.query === '' ? () => true : data.matcher(view.query);
	const rows = [];

	if (view.top.level === 'others' || view.top.parent?.level === 'others')
		return rows;
	if (view.top.level === 'rest')
		steps.push([view.top.children[0].level, new Set(view.top.children.map(f => f.id))]);
	for (let i = 0; i < data.rows; i++) {
		if (steps.every(([level, ids]) => ids.has(LEVELS[level].id(data, i))) && matches(i))
			rows.push(i);
	}
	return rows;
}

/** The heading, kind and width of a column. */
function columnOf(key) {
	if (key === 'procs')
		return {key, header: 'PROCS', kind: 'number', help: 'processes'};
	const c = data.columns.get(key);

	if (c.kind !== 'text')
		return c;
	const values = Array.isArray(c.values) ? c.values : [c.values];
	const longest = values.reduce((n, v) => v === null ? n : Math.max(n, data.strings[v].length), 0);

	return {...c, chars: Math.max(longest, 9)};
}

function tableColumns() {
	if (!chosen.group)
		return chosen.columns;
	const groups = chosen.group.split(',');

	return [...new Set([...groups, 'procs', ...chosen.columns])]
		.filter(key => groups.includes(key) || !['pid', 'ppid', 'name'].includes(key));
}

function showTable() {
	const rows = chosenRows(), all = rows.length === data.rows, keys = tableColumns();
	const shown = chosen.group ? new GroupRows(data, rows, chosen.group.split(',')) : new ProcessRows(data, rows);
	const others = view.query === '' && view.top === view.root ? data.doc.others : null, foot = [];
	const cellOf = sumOf => key => {
		const c = data.columns.get(key), bytes = c?.kind === 'bytes';

		if (key === 'procs')
			return {text: rows.length.toLocaleString('en-US')};
		if (!bytes && c.kind !== 'percent')
			return {text: ''};
		const sum = sumOf(bytes ? key : c.of), share = data.share(c.of, sum.bytes);

		return bytes ? sumCell(sum) : {text: share === null ? ABSENT : share.toFixed(1)};
	};

	if (chosen.sort && !keys.includes(chosen.sort.key))
		chosen.sort = null;
	if (others) {
		foot.push({label: `${others.processes} more`, className: 'others',
			cell: cellOf(key => Object.assign(new Sum(), {bytes: others[`${key}_bytes`]}))});
	}
	foot.push({label: `sum of ${(rows.length + (others?.processes ?? 0)).toLocaleString('en-US')}`,
		cell: cellOf(key => data.sum(key, rows, others !== null))});
	byId('table-count').textContent = (all ? countText(rows.length, 'process', 'processes') :
		`${rows.length.toLocaleString('en-US')} of ${countText(data.rows, 'process', 'processes')}`) +
		(chosen.group ? ` in ${countText(shown.length, 'group')}` : '') +
		(view.top === view.root ? '' : `, of ${view.top.label}`);
	table.show(shown, keys.map(columnOf), chosen.sort ?? usualSort(shown, keys), foot);
}

/** Processes arrive sorted; groups are sorted by size. */
function usualSort(shown, keys) {
	if (!chosen.group)
		return givenSort(shown, data, keys);
	const key = ['pss', 'rss'].find(k => keys.includes(k) && shown.length && shown.number(k, 0) !== null);

	return {key: key ?? 'procs', down: true};
}

/** Sorts sizes and numbers descending first, texts ascending; a second call reverses. */
function sortBy(key) {
	const at = byId('table').querySelector(`th[aria-sort] [data-key="${CSS.escape(key)}"]`)?.closest('th');
	const kind = key === 'procs' ? 'number' : data.columns.get(key).kind;
	const down = at ? at.getAttribute('aria-sort') === 'ascending' : kind !== 'text' && !['pid', 'ppid', 'uid'].includes(key);

	chosen.sort = {key, down};
	showTable();
	byId('scroller').scrollTop = 0;
}

show(JSON.parse(byId('data').textContent));
performance.mark('zmem-shown');
