// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The page of processes of serve: page.json, and history.json as charts with the OOM kills.

const LIVE_KILLS = 5; // in the list

/** The kills of the time that the charts show, newest first. A kill after the last point is at the end. */
function showKills(doc, points) {
	const end = points[points.length - 1].time_ms, kills = (doc.events ?? []).filter(e => e.time_ms >= points[0].time_ms).reverse();
	const lines = kills.slice(0, LIVE_KILLS).map(e => element('li', {}, `${timeText(e.time_ms)} · ${killText(e)}`));

	charts.marks = kills.map(e => ({time_ms: Math.min(e.time_ms, end), className: 'kill',
		text: `OOM kill, ${timeText(e.time_ms)} · ${killText(e)}`}));
	if (kills.length > LIVE_KILLS)
		lines.push(element('li', {}, countText(kills.length - LIVE_KILLS, 'earlier OOM kill')));
	byId('kills').replaceChildren(...lines);
	byId('kills-note').textContent = doc.events === null ? `OOM kills are not shown: ${visible(doc.events_reason)}` :
		kills.length ? 'OOM kills in this time:' : 'No OOM kill in this time.';
}

function showHistory(doc) {
	const points = chartPoints(doc.points), place = byId('history');

	if (points.length === 0) {
		place.replaceChildren(element('p', {className: 'muted'}, 'No data yet: the first point arrives within seconds.'));
		return;
	}
	showKills(doc, points);
	const ram = data.doc.system.memory_total_bytes, swap = data.doc.system.swap_total_bytes;
	const boxes = [lineChart('RAM used', points, p => p.ram_used_bytes, ram),
		lineChart('PSS of all processes', points, p => p.pss_bytes, ram)];

	if (swap)
		boxes.push(lineChart('Swap used', points, p => p.swap_used_bytes, swap));
	boxes.push(stackChart('Largest groups (PSS and swap)', points, 6));
	place.replaceChildren(...boxes);
}

async function fetchNew() {
	const [page, history] = await Promise.all([askFor('page.json'), askFor('history.json')]);

	return () => {
		show(page);
		showHistory(history);
		showPages('./', history.files);
	};
}

function shownTime() {
	return data.doc.timestamp_ms;
}

refresh();
