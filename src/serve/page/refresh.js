// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Keeps a page up to date. Fetches nothing while the page is hidden or paused, or while a menu is open.
// The page provides fetchNew(), which returns a function that shows what was fetched, and shownTime(),
// the time of what is shown. It calls refresh() once.

const live = {timer: 0, paused: false, asking: false};

/** The links to the pages; `own` is this one. */
function showPages(own, others) {
	byId('pages').querySelector(`[href="${own}"]`).setAttribute('aria-current', 'page');
	byId('pages').hidden = !others;
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
			const showNew = await fetchNew();

			if (!live.paused) {
				showNew();
				liveState('live');
				performance.mark('zmem-refreshed');
			}
		} catch (error) {
			liveState(`not up to date since ${timeText(shownTime())}: ${visible(error.message)}`, true);
		}
		live.asking = false;
	}
	live.timer = setTimeout(refresh, Number(byId('live-every').value) * 1000);
}

byId('live-pause').addEventListener('click', () => {
	live.paused = !live.paused;
	byId('live-pause').setAttribute('aria-pressed', live.paused);
	if (live.paused)
		liveState(`paused at ${timeText(shownTime())}`);
	else
		refresh();
});
byId('live-every').addEventListener('change', refresh);
document.addEventListener('visibilitychange', () => {
	if (!document.hidden)
		refresh();
});
