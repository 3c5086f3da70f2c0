// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Keeps the page up to date: fetches page.json and history.json and shows them. Fetches nothing
// while the page is hidden or paused, or while a menu is open.

const live = {timer: 0, paused: false, asking: false};

function showHistory(doc) {
	const points = chartPoints(doc.points), place = byId('history');

	if (points.length === 0) {
		place.replaceChildren(element('p', {className: 'muted'}, 'No data yet: the first point arrives within seconds.'));
		return;
	}
	const ram = data.doc.system.memory_total_bytes, swap = data.doc.system.swap_total_bytes;
	const charts = [lineChart('RAM used', points, p => p.ram_used_bytes, ram),
		lineChart('PSS of all processes', points, p => p.pss_bytes, ram)];

	if (swap)
		charts.push(lineChart('Swap used', points, p => p.swap_used_bytes, swap));
	charts.push(stackChart('Largest groups (PSS and swap)', points, 6));
	place.replaceChildren(...charts);
}

function liveState(text, bad = false) {
	const place = byId('live-state');

	place.textContent = text;
	place.className = bad ? 'muted small bad' : 'muted small';
}

async function askFor(path) {
	const answer = await fetch(path, {cache: 'no-store', credentials: 'same-origin', signal: AbortSignal.timeout(30000)});

	if (!answer.ok)
		throw new Error(`${answer.status} ${(await answer.text()).slice(0, 200).trim()}`);
	return answer.json();
}

async function refresh() {
	const busy = live.paused || live.asking || document.hidden || byId('picker').open;

	clearTimeout(live.timer);
	if (!busy) {
		live.asking = true;
		try {
			const [page, history] = await Promise.all([askFor('page.json'), askFor('history.json')]);

			if (!live.paused) {
				show(page);
				showHistory(history);
				liveState('live');
				performance.mark('zmem-refreshed');
			}
		} catch (error) {
			liveState(`not up to date since ${timeText(data.doc.timestamp_ms)}: ${visible(error.message)}`, true);
		}
		live.asking = false;
	}
	live.timer = setTimeout(refresh, Number(byId('live-every').value) * 1000);
}

byId('live-pause').addEventListener('click', () => {
	live.paused = !live.paused;
	byId('live-pause').setAttribute('aria-pressed', live.paused);
	if (live.paused)
		liveState(`paused at ${timeText(data.doc.timestamp_ms)}`);
	else
		refresh();
});
byId('live-every').addEventListener('change', refresh);
document.addEventListener('visibilitychange', () => {
	if (!document.hidden)
		refresh();
});
refresh();
