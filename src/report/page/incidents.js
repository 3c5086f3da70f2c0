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
	byId('moment').value = at;
	byId('moment').setAttribute('aria-valuetext', timeText(past.moments[at].timestamp_ms));
	byId('past-state').textContent = `snapshot of ${timeText(past.moments[at].timestamp_ms)}` +
		(chooseKinds(past.moments[at]) ? ', without PSS: the map has RSS and swap, and counts shared pages for each process' : '');
	show(past.moments[at]);
	showCharts();
}

/** Memory was short: for how long, the signs of it, and how little was left. */
function shortText(e) {
	const signs = {stall: 'tasks waited', available: 'little RAM available', swap: 'little swap free', refaults: 'much was read again'};
	const parts = [e.causes.map(c => signs[c] ?? c).join(', ')];

	if (e.memory_available_least_bytes !== null)
		parts.push(`least available ${sizeText(e.memory_available_least_bytes)}`);
	if (e.oom_kills)
		parts.push(countText(e.oom_kills, 'OOM kill'));
	return `${e.number}. ${momentText(e.time_ms)} · memory was short` +
		`${e.end_time_ms === null ? '' : ` for ${countText(Math.max(Math.round((e.end_time_ms - e.time_ms) / SECOND_MS), 1), 'second')}`}: ` +
		parts.filter(Boolean).join(' · ');
}

function eventText(e) {
	if (e.kind === 'pressure')
		return shortText(e);
	if (e.kind === 'signal')
		return `${momentText(e.time_ms)} · signal ${e.signal} by ${visible(e.sender.name ?? ABSENT)} to ${victimText(e.victim)}`;
	return `${e.number}. ${momentText(e.time_ms)} · ${killText(e)}`;
}

/** A titled list of groups with their bytes. */
function groupList(title, groups, key, sign) {
	const list = element('ul', {className: 'legend'});

	for (const g of groups.slice(0, 5))
		list.append(element('li', {}, element('span', {}, `${sign}${sizeText(g[key])}`),
			element('span', {}, g.group === null ? '(none)' : visible(g.group))));
	if (!groups.length)
		list.append(element('li', {}, element('span', {}, 'nothing')));
	return element('div', {}, element('h3', {}, title), list);
}

function showEvent(e) {
	const windows = {'1m': 'minute', '10m': '10 minutes', '1h': 'hour'};
	const lists = [groupList('Held most, by program', e.largest.name.filter(g => g.anon_swap_bytes), 'anon_swap_bytes', '')];

	for (const [key, text] of Object.entries(windows)) {
		if (e.grew[key] !== null)
			lists.push(groupList(`Had grown over the last ${text}`, e.grew[key], 'change_bytes', '+'));
	}
	if (e.files?.length)
		lists.push(groupList('Files of shared memory', e.files.map(f => ({...f, group: f.name})), 'resident_bytes', ''));
	byId('event').replaceChildren(...lists);
}

function showEvents() {
	const newest = [...past.incidents.events].reverse();
	const top = byId('events').scrollTop;

	byId('no-events').hidden = newest.length > 0;
	byId('events').replaceChildren(...newest.map(e => {
		const button = element('button', {type: 'button', 'aria-pressed': e === past.event}, eventText(e));

		button.addEventListener('click', () => {
			choose(momentOf(e), e);
			byId('events').querySelector('[aria-pressed=true]').focus();
		});
		return element('li', {}, button);
	}));
	byId('events').scrollTop = top;
	if (past.event)
		showEvent(past.event);
	else
		byId('event').replaceChildren();
}

charts.most = Infinity;
charts.begin = span => momentText(span.start);
charts.end = span => momentText(span.end);
charts.last = 'at the end';
byId('moment').max = past.moments.length - 1;
byId('moment').parentElement.hidden = !past.moments.length;
byId('moment').addEventListener('input', e => choose(Number(e.target.value)));
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
