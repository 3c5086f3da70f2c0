// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The page of growth: the document zmem.grow as a flame graph of stacks and a table of places.

const doc = JSON.parse(byId('data').textContent);
const VALUES = ['anon', 'file', 'shmem', 'swap', 'added', 'still', 'held', 'allocated', 'changes'];
// `parts`: by kind, of what stacks that end at a node have.
const MEASURES = {
	growth: {label: 'growth', help: 'what a place added, less what the same place gave back',
		parts: s => [s.anon, s.file, s.shmem, s.swap], known: true},
	still: {label: 'still there', help: 'of what was added, what is in RAM or swap at the end',
		parts: s => [s.still, 0, 0, 0], known: doc.resident_known},
	added: {label: 'added', help: 'what was added, also if other code gave it back', parts: s => [s.added, 0, 0, 0], known: true},
	held: {label: 'held', help: 'of what malloc gave, what is not freed', parts: s => [s.held, 0, 0, 0], known: doc.malloc !== null},
	allocated: {label: 'allocated', help: 'what malloc gave', parts: s => [s.allocated, 0, 0, 0], known: doc.malloc !== null},
};

const chosen = {measure: doc.malloc ? 'held' : 'growth', callers: true};
const view = new View('', document, {detail: detailOf, nothing: 'Nothing to draw: no stack has such bytes.',
	tip: frame => `${frame.label}: ${sizeText(frame.value)}, ${percentText(frame.value, view.root.value)}`});

/** What the nodes of a tree of calls have of their own: the names from its beginning on, and values. */
function readCalls({nodes, rest}) {
	const paths = [], stacks = [];
	const add = (path, values) =>
		stacks.push({path, ...Object.fromEntries(VALUES.map((key, k) => [key, values[k] ?? 0]))});

	nodes.forEach(([back, name, ...values], i) => {
		paths.push([...paths[i - back] ?? [], doc.names[name]]);
		if (values.length)
			add(paths[i], values);
	});
	if (rest.length)
		add(['[smaller]'], rest);
	return stacks;
}

const calls = doc.calls.map(readCalls);

/** A tree of the stacks; `callers`: from the outermost frame on. */
function stackTree() {
	const tree = newFrame(null, 'all', 'all', 'all'), index = new Map([[tree, new Map()]]);
	const follow = (steps, rows) => {
		let frame = tree;

		frame.rows += rows;
		for (const name of steps) {
			const below = index.get(frame);
			let next = below.get(name);

			if (!next) {
				next = newFrame(frame, 'frame', name, name);
				below.set(name, next);
				index.set(next, new Map());
				frame.children.push(next);
			}
			next.rows += rows;
			frame = next;
		}
		return frame;
	};

	for (const stack of calls[chosen.callers ? 0 : 1]) {
		addLeaf(follow(stack.path, stack.changes), MEASURES[chosen.measure].parts(stack),
			new Set(KINDS.map(k => k.key)), false);
	}
	prune(tree);
	return tree;
}

function detailOf(frame) {
	const where = pathOf(frame).slice(1).map(f => f.label).join(' › ') || 'all stacks';
	const kinds = KINDS.map((k, i) => [k.label, frame.kinds[i]]).filter(([, bytes]) => bytes);
	const parts = chosen.measure === 'growth' && kinds.length ?
		` (${kinds.map(([label, bytes]) => `${label} ${sizeText(bytes)}`).join(', ')})` : '';

	return `${where}: ${sizeText(frame.value)}, ${percentText(frame.value, view.root.value)} of all${parts}`;
}

function showMap() {
	const {left_out: left, share} = doc.calls[chosen.callers ? 0 : 1];

	view.show(stackTree());
	const given = view.root.value - doc.accounted.stacks_bytes;

	byId('left-out').textContent = (left ? `${countText(left, 'frame')} of less than ${share} % ${left === 1 ? 'is' : 'are'} ` +
		`part of what is above ${left === 1 ? 'it' : 'them'}. ` : '') +
		(chosen.measure === 'growth' && given ? `Places with growth below 0, which gave back ${sizeText(given)}, are in the table alone.` : '');
}

function showChoices() {
	const measures = Object.entries(MEASURES).filter(([, m]) => m.known).map(([key, m]) => ({key, ...m}));

	putButtons('measures', measures, key => chosen.measure === key, key => {
		chosen.measure = key;
	}, showMap);
	putButtons('orders', [{key: true, label: 'from main'}, {key: false, label: 'from the allocation'}],
		key => chosen.callers === key, key => {
			chosen.callers = key;
			view.path = [];
		}, showMap);
}

/** "remember < serve < main (+12 paths)" */
function codeOf(place) {
	if (place.joined)
		return `${place.joined} ${place.why}`;
	return place.frames.map(f => doc.names[f]).join(' < ') + (place.more ? ' < …' : '') +
		(place.paths > 1 ? ` (+${countText(place.paths - 1, 'path')})` : '');
}

/** Blocks are a sample. */
function isEstimated() {
	return doc.malloc !== null && (doc.malloc.sample_bytes > 1 || doc.places.total.error_bytes > 0);
}

function showTable() {
	const {rows, count, total} = doc.places, {malloc} = doc;
	const bytes = (heading, key, atLeast = () => false) => [heading, p => (atLeast(p) ? '≥ ' : '') + sizeText(p[key])];
	const pages = [bytes('STILL', 'resident_bytes', p => p.at_least), bytes('GROWTH', 'net_bytes'), bytes('ADDED', 'gross_bytes')];
	const blocks = [bytes('HELD', malloc?.at_least ? 'held_least_bytes' : 'held_bytes', () => malloc.at_least),
		bytes('ALLOCATED', 'allocated_bytes'), bytes('GROWTH', 'net_bytes')];
	const columns = malloc ? blocks : pages;

	if (isEstimated() && !malloc.at_least)
		columns.splice(1, 0, bytes('LEAST', 'held_least_bytes'), bytes('MOST', 'held_most_bytes'));
	else if (!malloc && rows.some(p => p.error_bytes))
		columns.splice(2, 0, bytes('±', 'error_bytes'));
	if (rows.some(p => p.copied_bytes))
		columns.push(['COPIED', p => sizeText(p.copied_bytes)]);
	if (!malloc)
		columns.push(['KIND', p => p.kind ?? '']);
	const line = (place, code) => element('tr', {}, ...columns.map(([, text]) => element('td', {}, text(place))),
		element('td', {className: 'text'}, code));

	byId('table').tHead.replaceChildren(element('tr', {}, ...columns.map(([text]) => element('th', {}, text)),
		element('th', {className: 'text'}, 'CODE')));
	byId('table').tBodies[0].replaceChildren(...rows.map(place => line(place, codeOf(place))));
	byId('table').tFoot.replaceChildren(line({...total, kind: null}, `total, ${countText(count, 'place')}`));
	byId('table-count').textContent = doc.places.left_out ? `the first ${rows.length} of ${countText(count, 'place')}` :
		countText(count, 'place');
}

function showHead() {
	const {target, accounted, malloc} = doc, names = new Set(target.processes.map(p => p.name));
	const kb = bytes => `${(bytes / 1024).toLocaleString('en-US')} kB`;
	const whole = accounted.counter_change_bytes === accounted.stacks_bytes;

	byId('host').textContent = [...names].slice(0, 3).join(', ');
	byId('about').textContent = `${doc.host.name ?? ''} · ${countText(target.processes.length, 'process', 'processes')}` +
		` · ${(target.duration_us / 1e6).toFixed(1)} s · ${doc.timestamp}`;
	const exact = accounted.every_change && !accounted.sampled_events && !accounted.lost_events;
	const lacks = !whole || malloc?.at_least;
	const doubts = [isEstimated() && `sampled, ± ${sizeText(doc.places.total.error_bytes)}`, lacks && 'not all'].filter(Boolean);

	byId('badge').textContent = doubts.join(', ') || (exact ? 'exact' : 'stacks sampled');
	byId('badge').classList.add(lacks ? 'bad' : 'good');
	byId('summary').textContent =
		`${kb(accounted.stacks_bytes)} of ${kb(accounted.counter_change_bytes)} accounted for` +
		(accounted.sampled_events ? `; ${accounted.sampled_events} of ${accounted.events} changes have no stack:` +
			' those of a random sample of pages stand for them' : '') +
		(accounted.lost_events ? `; there was no room for the stacks of ${accounted.lost_events} changes` : '') +
		(isEstimated() ? `; what is held is estimated: one sample in ${sizeText(malloc.sample_bytes)}` : '') +
		(malloc?.at_least ? '; what is held lacks blocks' : '') +
		(malloc?.price_ns && malloc.speed_least_percent < 95 ? '; the probes slowed the program down: it ran at ' +
			`${malloc.speed_least_percent.toFixed(0)} to ${malloc.speed_most_percent.toFixed(0)} % of its speed` : '');
	byId('made').textContent = `zmem-bpf ${doc.tool.version}, ${doc.host.kernel_release ?? ''}`;
}

/** Resident memory and swap of the processes: what they began with and what all stacks have added. */
function showHistory() {
	const {begin} = doc.accounted, keys = KINDS.map(k => `${k.key}_bytes`), [first] = doc.history;
	const chart = (title, which) =>
		lineChart(title, doc.history, p => which.reduce((sum, key) => sum + begin[key] + p[key], 0));

	charts.most = Infinity;
	charts.last = 'at the end';
	charts.begin = () => new Date(first.time_ms).toISOString().slice(11, 19);
	charts.end = span => `${((span.end - span.start) / 1000).toFixed(1)} s later`;
	byId('history').replaceChildren(chart('RSS and swap', keys),
		...KINDS.filter(k => doc.history.some(p => p[`${k.key}_bytes`] !== 0))
			.map(k => chart(k.label, [`${k.key}_bytes`])));
}

byId('query').addEventListener('input', event => {
	view.query = event.target.value;
	view.draw();
});
byId('page').hidden = false;
showHead();
showChoices();
showTable();
showHistory();
showMap();
