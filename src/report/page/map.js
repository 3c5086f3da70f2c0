// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What the reader does with the map, the search and the keys: the same for the page of processes
// (page.js) and that of files (files.js). These provide ITEMS, NOTHING, chosen, root, top_, showMap() and
// showTable().

/** A row of toggle buttons. */
function putButtons(id, items, isOn, flip) {
	const place = byId(id), focused = document.activeElement?.dataset?.key;

	place.replaceChildren(...items.map(({key, label, help, swatch}) => {
		const button = element('button', {type: 'button', title: help ?? '', 'aria-pressed': isOn(key)});

		if (swatch)
			button.append(element('span', {className: `swatch ${swatch}`}));
		button.append(label);
		button.dataset.key = key;
		button.addEventListener('click', () => {
			flip(key);
			putButtons(id, items, isOn, flip);
			showMap();
			showTable();
		});
		return button;
	}));
	place.querySelector(`[data-key="${CSS.escape(focused ?? '')}"]`)?.focus();
}

function zoomTo(frame) {
	const scroller = byId('scroller');

	// A table of fewer rows is as high, so that the map below it stays under the pointer.
	scroller.style.minHeight = frame === root ? '' : `${scroller.offsetHeight}px`;
	top_ = frame;
	chosen.path = pathOf(frame);
	showZoom();
	showTable();
	scroller.scrollTop = 0;
	byId('tip').hidden = true;
}

function showZoom() {
	const path = pathOf(top_), lacking = root.missing;
	const found = markMatches(top_, chosen.query);

	byId('found').textContent = chosen.query === '' ? '' : found.frames === 0 ? 'no frame matches' :
		`${countText(found.frames, 'frame')}: ${sizeText(found.bytes)}, ${percentText(found.bytes, top_.value)}`;
	byId('crumbs').replaceChildren(...path.map(frame => {
		const button = element('button', {type: 'button'}, frame.label);

		if (frame === top_)
			button.setAttribute('aria-current', 'true');
		button.addEventListener('click', () => zoomTo(frame));
		return element('li', {}, button);
	}));
	graph.show({root, top: top_, view: chosen.view, withKinds: chosen.levels.includes('kind'),
		searching: chosen.query !== ''});
	byId('detail').textContent = root.value ? detailOf(top_) : NOTHING;
	byId('map-note').textContent = lacking ?
		`${countText(lacking, ...ITEMS)} without measured PSS left out.` : '';
}

/** Describes a frame: its path, size, shares, processes and kinds. */
function detailOf(frame) {
	const parts = KINDS.map((k, i) => [k.label, frame.kinds[i]]).filter(([, bytes]) => bytes)
		.map(([label, bytes]) => `${label} ${sizeText(bytes)}`);
	const where = pathOf(frame).slice(1).map(f => f.label).join(' › ') || frame.label;
	const share = frame.parent ? `, ${percentText(frame.value, frame.parent.value)} of ${frame.parent.label}` +
		(frame.parent.parent ? `, ${percentText(frame.value, root.value)} of all` : '') : '';
	const what = frame.kind ? '' : ` (${parts.join(', ')})`;
	const many = frame.rows > 1 ? `, ${countText(frame.rows, ...ITEMS)}` : '';

	return `${where}: ${sizeText(frame.value)}${share}${many}${what}`;
}

function pointAt(frame, event) {
	const tip = byId('tip');

	if (root?.value)
		byId('detail').textContent = detailOf(frame ?? top_);
	tip.hidden = !frame || !event || event.pointerType === 'touch';
	if (tip.hidden)
		return;
	tip.textContent = detailOf(frame);
	const {width, height} = tip.getBoundingClientRect();
	const x = Math.min(event.clientX + 14, innerWidth - width - 8);
	const y = event.clientY + 18 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 18;

	tip.style.transform = `translate(${Math.max(x, 4)}px, ${Math.max(y, 4)}px)`;
}

byId('query').addEventListener('input', e => {
	chosen.query = e.target.value.trim();
	showZoom();
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
	else if (e.key === 'Escape' && !typing && top_?.parent)
		zoomTo(top_.parent);
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
