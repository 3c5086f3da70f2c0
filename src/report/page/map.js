// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What the reader does with the map, the search and the keys: the same for the page of processes
// (page.js) and that of files (files.js). These provide ITEMS, view, chosen, showMap() and showTable().

/** A table of fewer rows is as high, so that the map below it stays under the pointer. */
function showZoomed() {
	const scroller = byId('scroller');

	scroller.style.minHeight = view.top === view.root ? '' : `${scroller.offsetHeight}px`;
	showTable();
	scroller.scrollTop = 0;
}

function showAll() {
	showMap();
	showTable();
}

/** Describes a frame: its path, size, shares, processes and kinds. */
function detailOf(frame) {
	const parts = KINDS.map((k, i) => [k.label, frame.kinds[i]]).filter(([, bytes]) => bytes)
		.map(([label, bytes]) => `${label} ${sizeText(bytes)}`);
	const what = frame.kind ? '' : ` (${parts.join(', ')})`;
	const many = frame.rows > 1 ? `, ${countText(frame.rows, ...ITEMS)}` : '';

	return `${shareText(frame, view.root)}${many}${what}`;
}

byId('query').addEventListener('input', e => {
	view.query = e.target.value.trim();
	view.draw();
	showTable();
});
byId('group').addEventListener('change', e => {
	chosen.group = e.target.value;
	chosen.sort = null;
	showTable();
	byId('scroller').scrollTop = 0;
});
document.addEventListener('keydown', e => {
	const typing = ['INPUT', 'SELECT'].includes(e.target.tagName);

	if (e.key === 'Escape' && byId('picker').open)
		byId('picker').open = false;
	else if (e.key === '/' && !typing)
		byId('query').focus();
	else
		return;
	e.preventDefault();
});
document.addEventListener('click', e => {
	if (!byId('picker').contains(e.target))
		byId('picker').open = false;
});
