// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A map with what belongs to it: the buttons, the frames above its top, the line below it and the tip.

/** A row of toggle buttons; `changed` is called after a click. */
function putButtons(id, items, isOn, flip, changed) {
	const place = byId(id), focused = document.activeElement?.dataset?.key;

	place.replaceChildren(...items.map(({key, label, help, swatch}) => {
		const button = element('button', {type: 'button', title: help ?? '', 'aria-pressed': isOn(key)});

		if (swatch)
			button.append(element('span', {className: `swatch ${swatch}`}));
		button.append(label);
		button.dataset.key = key;
		button.addEventListener('click', () => {
			flip(key);
			putButtons(id, items, isOn, flip, changed);
			changed();
		});
		return button;
	}));
	place.querySelector(`[data-key="${CSS.escape(focused ?? '')}"]`)?.focus();
}

class View {
	/**
	 * `prefix`: of the ids of its elements; `place`: where its key Escape counts. `page` has detail(frame), perhaps
	 * tip(frame) and zoomed(), which is called when another frame is on top; `nothing` is the text of an empty map.
	 */
	constructor(prefix, place, page) {
		Object.assign(this, {prefix, page, root: null, top: null, path: [], layout: 'icicle', withKinds: false, query: ''});
		this.graph = new Graph(this.part('map'), {zoom: frame => this.zoomTo(frame), point: (frame, event) => this.point(frame, event)});
		putButtons(`${prefix}views`, [{key: 'icicle', label: 'Icicle'}, {key: 'treemap', label: 'Treemap'}],
			key => this.layout === key, key => {
				this.layout = key;
			}, () => this.draw());
		place.addEventListener('keydown', e => {
			if (e.key !== 'Escape' || e.defaultPrevented || ['INPUT', 'SELECT'].includes(e.target.tagName))
				return;
			e.preventDefault();
			if (this.top?.parent)
				this.zoomTo(this.top.parent);
		});
	}

	part(name) {
		return byId(this.prefix + name);
	}

	/** Shows another tree. The frame on top stays, if the tree has it. */
	show(root) {
		this.root = root;
		this.top = followPath(root, this.path);
		this.draw();
	}

	zoomTo(frame) {
		this.top = frame;
		this.path = pathOf(frame);
		this.draw();
		this.page.zoomed?.();
		byId('tip').hidden = true;
	}

	draw() {
		const {root, top, query} = this, found = markMatches(top, query);

		if (this.part('found'))
			this.part('found').textContent = query === '' ? '' : found.frames === 0 ? 'no frame matches' :
				`${countText(found.frames, 'frame')}: ${sizeText(found.bytes)}, ${percentText(found.bytes, top.value)}`;
		this.part('crumbs').replaceChildren(...pathOf(top).map(frame => {
			const button = element('button', {type: 'button'}, frame.label);

			if (frame === top)
				button.setAttribute('aria-current', 'true');
			button.addEventListener('click', () => this.zoomTo(frame));
			return element('li', {}, button);
		}));
		this.graph.show({root, top, view: this.layout, withKinds: this.withKinds, searching: query !== ''});
		this.part('detail').textContent = root.value ? this.page.detail(top) : this.page.nothing;
	}

	point(frame, event) {
		const tip = byId('tip');

		if (this.root?.value)
			this.part('detail').textContent = this.page.detail(frame ?? this.top);
		tip.hidden = !frame || !event || event.pointerType === 'touch';
		if (tip.hidden)
			return;
		tip.textContent = this.page.tip?.(frame) ?? this.page.detail(frame);
		const {width, height} = tip.getBoundingClientRect();
		const x = Math.min(event.clientX + 14, innerWidth - width - 8);
		const y = event.clientY + 18 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 18;

		tip.style.transform = `translate(${Math.max(x, 4)}px, ${Math.max(y, 4)}px)`;
	}
}

/** "cgroup › name: 4 KiB, 1.0 % of cgroup, 0.5 % of all" */
function shareText(frame, whole) {
	const where = pathOf(frame).slice(1).map(f => f.label).join(' › ') || frame.label;
	const share = frame.parent ? `, ${percentText(frame.value, frame.parent.value)} of ${frame.parent.label}` +
		(frame.parent.parent ? `, ${percentText(frame.value, whole.value)} of all` : '') : '';

	return `${where}: ${sizeText(frame.value)}${share}`;
}
