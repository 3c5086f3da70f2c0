// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The page of growth: the document zmem.grow as a flame graph of stacks and a table of places.

const MEASURES = {
	growth: {label: 'growth', help: 'what was added, less what was given back',
		parts: s => KINDS.map(k => Math.max(s.net[`${k.key}_bytes`], 0))},
	added: {label: 'added', help: 'what was added, also if another thread gave it back', parts: s => [s.gross_bytes, 0, 0, 0]},
	still: {label: 'still there', help: 'of what was added, what is in RAM or swap at the end',
		parts: s => [s.resident_bytes ?? 0, 0, 0, 0]},
};
const PLACES_MOST = 500;

const doc = JSON.parse(byId('data').textContent);
const chosen = {measure: 'growth', callers: true};
const view = new View('', document, {detail: detailOf, nothing: 'Nothing to draw: no stack has such bytes.',
	tip: frame => `${frame.label}: ${sizeText(frame.value)}, ${percentText(frame.value, view.root.value)}`});

function nameOf(f) {
	const name = f.function ?? (f.module ? `${f.module}+0x${f.offset.toString(16)}` : `0x${f.offset.toString(16)}`);

	return f.source ? `${name} (${f.source.replace(/.*\//, '')}:${f.line})` : name;
}

/** The frames of a stack, the outermost first. */
function stepsOf(stack) {
	const steps = [...stack.frames].reverse();

	return stack.truncated ? [{function: '[truncated]', module: null, offset: 0}, ...steps] : steps;
}

/** A tree of the stacks; `callers`: from the outermost frame on. */
function stackTree() {
	const tree = newFrame(null, 'all', 'all', 'all'), index = new Map([[tree, new Map()]]);

	for (const stack of doc.stacks) {
		const steps = chosen.callers ? stepsOf(stack) : stepsOf(stack).reverse();
		let frame = tree;

		tree.rows += stack.changes;
		for (const step of steps) {
			const name = nameOf(step), below = index.get(frame);
			let next = below.get(name);

			if (!next) {
				next = newFrame(frame, 'frame', name, name);
				below.set(name, next);
				index.set(next, new Map());
				frame.children.push(next);
			}
			next.rows += stack.changes;
			frame = next;
		}
		addLeaf(frame, MEASURES[chosen.measure].parts(stack), new Set(KINDS.map(k => k.key)), false);
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
	view.show(stackTree());
}

function showChoices() {
	const known = doc.stacks.some(s => s.resident_bytes !== null);
	const measures = Object.entries(MEASURES).filter(([key]) => key !== 'still' || known)
		.map(([key, m]) => ({key, ...m}));

	putButtons('measures', measures, key => chosen.measure === key, key => {
		chosen.measure = key;
	}, showMap);
	putButtons('orders', [{key: true, label: 'from main'}, {key: false, label: 'from the allocation'}],
		key => chosen.callers === key, key => {
			chosen.callers = key;
			view.path = [];
		}, showMap);
}

/** The first frame that is not an allocator's, and its callers up to main. */
function placeOf(stack) {
	const first = Math.max(stack.frames.findIndex(f => !f.allocator), 0);
	let end = stack.frames.length;

	while (end > first + 1 && (stack.frames[end - 1].allocator || stack.frames[end - 1].function === '_start'))
		end--;
	return stack.frames.slice(first, end).map(nameOf).join(' < ') + (stack.truncated ? ' < …' : '');
}

function showTable() {
	const places = new Map();

	for (const stack of doc.stacks) {
		const key = placeOf(stack);
		const sums = places.get(key) ?? {net: 0, gross: 0, resident: null};

		sums.net += stack.net_bytes;
		sums.gross += stack.gross_bytes;
		if (stack.resident_bytes !== null)
			sums.resident += stack.resident_bytes;
		places.set(key, sums);
	}
	const rows = [...places].sort(([, a], [, b]) => b.net - a.net);
	const cell = (text, name) => element('td', {className: name}, text);

	byId('table').tHead.replaceChildren(element('tr', {},
		...['GROWTH', 'ADDED', 'STILL'].map(text => element('th', {}, text)),
		element('th', {className: 'text'}, 'CODE')));
	byId('table').tBodies[0].replaceChildren(...rows.slice(0, PLACES_MOST).map(([name, sums]) =>
		element('tr', {}, cell(sizeText(sums.net), ''), cell(sizeText(sums.gross), ''),
			cell(sizeText(sums.resident), ''), cell(name, 'text'))));
	byId('table-count').textContent = rows.length > PLACES_MOST ?
		`the first ${PLACES_MOST} of ${countText(rows.length, 'place')}` : countText(rows.length, 'place');
}

function showHead() {
	const {target, accounted} = doc, names = new Set(target.processes.map(p => p.name));
	const kb = bytes => `${(bytes / 1024).toLocaleString('en-US')} kB`;
	const whole = accounted.counter_change_bytes === accounted.stacks_bytes;

	byId('host').textContent = [...names].slice(0, 3).join(', ');
	byId('about').textContent = `${doc.host.name ?? ''} · ${countText(target.processes.length, 'process', 'processes')}` +
		` · ${(target.duration_us / 1e6).toFixed(1)} s · ${doc.timestamp}`;
	const exact = whole && accounted.every_change && !accounted.sampled_events && !accounted.lost_events;

	byId('badge').textContent = exact ? 'exact' : whole ? 'stacks sampled' : 'not all';
	byId('badge').classList.add(whole ? 'good' : 'bad');
	byId('summary').textContent =
		`${kb(accounted.stacks_bytes)} of ${kb(accounted.counter_change_bytes)} accounted for` +
		(accounted.sampled_events ? `; ${accounted.sampled_events} of ${accounted.events} changes have no stack:` +
			' those of a random sample of pages stand for them' : '') +
		(accounted.lost_events ? `; there was no room for the stacks of ${accounted.lost_events} changes` : '');
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
