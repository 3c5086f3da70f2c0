// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Draws the boxes of tree.js as a map of memory on a canvas, and reports which frame is pointed at.
// The caller handles zooms.

const TONES = 6;
const FONT = '12.5px system-ui, sans-serif';

class Graph {
	/** `on`: zoom(frame), point(frame or null, event or null). */
	constructor(canvas, on) {
		this.canvas = canvas;
		this.ctx = canvas.getContext('2d');
		this.on = on;
		this.boxes = [];
		this.pointed = null;
		this.widths = new Map();
		this.colors = new Map();
		canvas.addEventListener('pointermove', e => this.point(this.hit(e), e));
		canvas.addEventListener('pointerleave', () => this.point(null, null));
		canvas.addEventListener('click', e => this.click(this.hit(e)));
		canvas.addEventListener('keydown', e => this.key(e));
		canvas.addEventListener('blur', () => this.point(null, null));
		new ResizeObserver(() => this.resize()).observe(canvas);
		matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.restyle());
	}

	/**
	 * Sets what is drawn: {root, top, view: 'icicle' or 'treemap', withKinds, searching: mark
	 * matches}.
	 */
	show(what) {
		Object.assign(this, what, {pointed: null});
		this.width = 0;
		this.resize();
	}

	resize() {
		const width = this.canvas.clientWidth;

		if (!this.root || !width || width === this.width)
			return;
		const coarse = matchMedia('(pointer: coarse)').matches, row = coarse ? 32 : 27;
		const narrow = width < 600;
		const depth = depthBelow(this.root);
		const height = this.view === 'icicle' ? (depth + 1) * row :
			Math.round(narrow ? width * 1.25 : Math.min(560, width * 0.5));
		const scale = devicePixelRatio || 1;

		this.width = width;
		this.boxes = this.view === 'icicle' ? layIcicle(this.top, width, row, depth, this.withKinds) :
			layTreemap(this.top, width, height);
		this.canvas.style.height = `${height}px`;
		this.canvas.width = Math.round(width * scale);
		this.canvas.height = Math.round(height * scale);
		this.ctx.setTransform(scale, 0, 0, scale, 0, 0);
		this.height = height;
		this.draw();
	}

	restyle() {
		this.colors.clear();
		this.draw();
	}

	color(name) {
		if (!this.colors.has(name))
			this.colors.set(name, getComputedStyle(this.canvas).getPropertyValue(`--${name}`).trim());
		return this.colors.get(name);
	}

	/** A pattern over the colour, so that kinds differ without colours. */
	pattern(kind) {
		const key = `${kind}-pattern`;

		if (!this.colors.has(key)) {
			const tile = document.createElement('canvas'), ctx = tile.getContext('2d');

			tile.width = tile.height = 6;
			ctx.strokeStyle = this.color('pattern');
			ctx.beginPath();
			if (kind === 'swap') {
				for (const at of [-6, 0, 6]) {
					ctx.moveTo(at - 1, 7);
					ctx.lineTo(at + 7, -1);
				}
			} else {
				ctx.rect(2, 2, 0.5, 0.5);
			}
			ctx.stroke();
			this.colors.set(key, this.ctx.createPattern(tile, 'repeat'));
		}
		return this.colors.get(key);
	}

	fillOf(frame) {
		if (frame.color)
			return this.color(frame.color);
		if (frame.level === 'others' || frame.level === 'rest')
			return this.color('lost');
		let hash = 7;

		for (let i = 0; i < frame.label.length; i++)
			hash = (hash * 31 + frame.label.charCodeAt(i)) >>> 0;
		return this.color(`tone-${hash % TONES}`);
	}

	draw() {
		const {ctx} = this;

		if (!this.root)
			return;
		ctx.clearRect(0, 0, this.width, this.height);
		ctx.lineWidth = 1;
		ctx.font = FONT;
		ctx.textBaseline = 'middle';
		for (const box of this.boxes)
			this.drawBox(box);
		const box = this.pointed && this.boxes.find(b => b.frame === this.pointed);

		if (box) {
			ctx.strokeStyle = this.color('accent');
			ctx.lineWidth = 2;
			ctx.strokeRect(box.x + 1, box.y + 1, Math.max(box.w - 2, 1), Math.max(box.h - 2, 1));
		}
	}

	drawBox({frame, x, y, w, h, above, head, nested}) {
		const {ctx} = this, gap = w > 4 && h > 4 ? 1 : w > 1.5 && h > 1.5 ? 0.4 : 0;
		const away = above || (this.searching && !frame.match && frame.parent);

		ctx.fillStyle = away ? this.color('dim') : this.fillOf(frame);
		ctx.fillRect(x, y, w - gap, h - gap);
		if (nested && w > 8) {
			ctx.strokeStyle = this.color('card');
			ctx.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
		}
		if (!away && (frame.color === 'swap' || frame.color === 'shmem') && w > 3) {
			ctx.fillStyle = this.pattern(frame.color);
			ctx.fillRect(x, y, w - gap, h - gap);
		}
		if (this.searching && frame.match && !frame.parent?.match && w > 1) {
			ctx.fillStyle = this.color('match');
			ctx.fillRect(x, head === undefined ? y + h - gap - 3 : y, w - gap, 3);
		}
		ctx.globalAlpha = away ? 0.65 : 1;
		if (w > 26 && h > 13)
			this.drawLabel(frame, sizeText(frame.value), x, y, w, h, head);
		ctx.globalAlpha = 1;
	}

	/**
	 * Draws the names, or the last one if they do not fit, and the size if it fits: beside the
	 * name, or below it in a high box.
	 */
	drawLabel(frame, size, x, y, w, h, head) {
		const {ctx} = this, room = w - 10;
		const middle = head ? y + HEAD / 2 + 1 : this.view === 'treemap' && h > 34 ? y + 12 : y + h / 2;
		const text = this.fit(frame.label, room) === frame.label ? frame.label : frame.last;
		const name = this.fit(text, room);

		ctx.fillStyle = this.color('ink');
		ctx.fillText(name, x + 5, middle);
		if (name !== text)
			return;
		ctx.globalAlpha *= 0.72;
		if (!head && this.view === 'treemap' && h > 34) {
			if (this.measure(size) <= room)
				ctx.fillText(size, x + 5, y + 28);
		} else if (this.measure(text) + this.measure(size) + 12 < room) {
			ctx.fillText(size, x + w - 6 - this.measure(size), middle);
		}
	}

	measure(text) {
		let width = this.widths.get(text);

		if (width === undefined) {
			width = this.ctx.measureText(text).width;
			this.widths.set(text, width);
		}
		return width;
	}

	/** The longest prefix of a text that fits. */
	fit(text, room) {
		const start = text.length > 300 ? text.slice(0, 300) : text;

		if (start === text && this.measure(text) <= room)
			return text;
		let low = 0, high = start.length;

		while (low < high) {
			const half = (low + high + 1) >> 1;

			if (this.ctx.measureText(`${start.slice(0, half)}…`).width <= room)
				low = half;
			else
				high = half - 1;
		}
		if (/[\ud800-\udbff]$/.test(start.slice(0, low)))
			low--;
		return low > 0 ? `${start.slice(0, low)}…` : '';
	}

	hit(event) {
		const box = this.canvas.getBoundingClientRect();
		const x = event.clientX - box.left, y = event.clientY - box.top;

		return this.boxes.reduce((frame, b) =>
			x >= b.x && x < b.x + b.w && y >= b.y && y < b.y + b.h ? b.frame : frame, null);
	}

	point(frame, event) {
		if (frame !== this.pointed) {
			this.pointed = frame;
			this.draw();
		}
		this.on.point(frame, event);
	}

	/**
	 * Zooms into a frame; from the top frame out to its parent. A kind is shown in its parent.
	 */
	click(frame) {
		if (!frame)
			return;
		if (frame === this.top)
			this.on.zoom(frame.parent ?? frame);
		else if (frame.kind && frame.parent !== this.top)
			this.on.zoom(frame.parent);
		else
			this.on.zoom(frame);
	}

	key(event) {
		const at = this.pointed ?? this.top, family = at.parent?.children ?? [];
		const drawn = f => this.boxes.some(b => b.frame === f);
		const next = {
			ArrowUp: () => at.parent,
			ArrowDown: () => at.children[0],
			ArrowLeft: () => family[family.indexOf(at) - 1],
			ArrowRight: () => family[family.indexOf(at) + 1],
		}[event.key];

		if (event.key === 'Enter' || event.key === ' ') {
			this.click(at);
		} else if (next) {
			const frame = next();

			if (frame && drawn(frame))
				this.point(frame, null);
		} else {
			return;
		}
		event.preventDefault();
	}
}
