// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The page of incidents: charts of a recording, its events, and the snapshots that it holds. The
// map and the table below show the chosen one.

const past = {...JSON.parse(byId('recording').textContent), at: 0, event: null};
const DAY_MS = 24 * HOUR_MS;

/** The time of day, with the date if the recording has several days. */
function momentText(ms) {
	const all = past.points.length ? past.points : past.incidents.events;
	const long = all[all.length - 1].time_ms - all[0].time_ms > DAY_MS / 2;

	return long ? timeText(ms) : timeText(ms).slice(11);
}

/** The number of the snapshot in the page that is nearest to a time. */
function nearest(ms) {
	let best = 0;

	past.moments.forEach((m, i) => {
		if (Math.abs(m.timestamp_ms - ms) < Math.abs(past.moments[best].timestamp_ms - ms))
			best = i;
	});
	return best;
}

/** The snapshot of an event; a kill without one has that before it. */
function momentOf(event) {
	const at = past.moments.findIndex(m => m.timestamp_ms === event.system?.time_ms);

	return at < 0 ? nearest(event.time_ms) : at;
}

function showCharts() {
	const points = chartPoints(past.points), first = past.moments[0].system;
	const ram = first.memory_total_bytes;

	charts.marks = [...past.incidents.events.map(e => ({time_ms: e.time_ms, className: e.kind === 'pressure' ? 'short' : 'kill',
		text: eventText(e)})), {time_ms: past.moments[past.at].timestamp_ms, className: 'chosen'}];
	const boxes = [lineChart('RAM used', points, p => p.ram_used_bytes, ram)];

	if (points.some(p => p.swap_used_bytes))
		boxes.push(lineChart('Swap used', points, p => p.swap_used_bytes, first.swap_total_bytes));
	boxes.push(stackChart('Largest programs (anonymous memory and swap)', points, 6));
	byId('past').replaceChildren(...boxes);
}

/** At an OOM kill no PSS is read: the map then has RSS and swap. */
function chooseKinds(doc) {
	const bare = doc.totals.pss_bytes === null;

	for (const kind of KINDS) {
		kind.column = kind.key === 'swap' ? (bare ? 'swap' : 'swap_pss') : `${bare ? 'rss' : 'pss'}_${kind.key}`;
		kind.help = `${kind.help.split(':')[0]}: ${kind.column.toUpperCase()}`;
	}
	return bare;
}

function choose(at, event = null) {
	past.at = at;
	past.event = event;
	showEvents();
	if (!past.moments.length) {
		byId('past-state').textContent = 'no snapshot is readable';
		return;
	}
	byId('moment').value = past.moments[at].timestamp_ms;
	byId('moment').setAttribute('aria-valuetext', timeText(past.moments[at].timestamp_ms));
	byId('past-state').textContent = `snapshot of ${timeText(past.moments[at].timestamp_ms)}` +
		(chooseKinds(past.moments[at]) ? ', without PSS: the map has RSS and swap, and counts shared pages for each process' : '');
	show(past.moments[at]);
	showCharts();
}

/** An event of the list in one line. */
function eventText(e) {
	return e.line.replace(/\s+/g, ' ').trim();
}

/** What the text says of an event, line by line. */
function showEvent(e) {
	const [heading, ...lines] = e.text.trimEnd().split('\n');

	byId('event').replaceChildren(element('h3', {}, heading), ...lines.map(line => element('p', {className: 'said'}, line)));
}

function showEvents() {
	const newest = [...past.incidents.events].reverse();
	const list = byId('events').parentElement, top = list.scrollTop;

	byId('no-events').hidden = newest.length > 0;
	byId('events-heading').textContent = newest.length ? past.incidents.heading : '';
	byId('events').replaceChildren(...newest.map(e => {
		const button = element('button', {type: 'button', 'aria-pressed': e === past.event}, e.line.trimEnd());

		button.addEventListener('click', () => {
			choose(momentOf(e), e);
			byId('events').querySelector('[aria-pressed=true]').focus();
		});
		return element('li', {}, button);
	}));
	list.scrollTop = top;
	if (past.event)
		showEvent(past.event);
	else
		byId('event').replaceChildren();
}

charts.most = Infinity;
charts.begin = span => momentText(span.start);
charts.end = span => momentText(span.end);
charts.last = 'at the end';
byId('moment').parentElement.hidden = !past.moments.length;
if (past.moments.length) {
	byId('moment').min = past.moments[0].timestamp_ms;
	byId('moment').max = past.moments[past.moments.length - 1].timestamp_ms;
}
byId('moment').addEventListener('input', e => choose(nearest(Number(e.target.value))));
byId('moment').addEventListener('keydown', e => {
	const step = {ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1}[e.key];

	if (!step)
		return;
	e.preventDefault();
	choose(Math.min(Math.max(past.at + step, 0), past.moments.length - 1));
});
byId('past').addEventListener('click', e => {
	const chart = e.target.closest('svg');

	if (!chart)
		return;
	const box = chart.getBoundingClientRect(), span = chartSpan(chartPoints(past.points));
	const ms = span.start + (e.clientX - box.left) / box.width * (span.end - span.start);
	const near = past.incidents.events.find(k => Math.abs(k.time_ms - ms) < (span.end - span.start) * 8 / box.width);

	choose(near ? momentOf(near) : nearest(ms), near ?? null);
});
{
	const newest = past.incidents.events[past.incidents.events.length - 1];

	choose(newest ? momentOf(newest) : past.moments.length - 1, newest ?? null);
}
