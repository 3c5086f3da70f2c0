// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Memory as a tree of frames, as -F folded has it: the parts of PSS and SwapPss by user, unit,
// program and process, each address space once. Computes sizes and positions of boxes; graph.js
// draws them.

const KINDS = [
	{key: 'anon', column: 'pss_anon', label: 'anon', help: 'anonymous memory: PSS_ANON'},
	{key: 'file', column: 'pss_file', label: 'file', help: 'mapped files: PSS_FILE'},
	{key: 'shmem', column: 'pss_shmem', label: 'shmem', help: 'shared memory and tmpfs: PSS_SHMEM'},
	{key: 'swap', column: 'swap_pss', label: 'swap', help: 'swap: SWAP_PSS'},
];

// The identity and the name of a frame of each level.
const LEVELS = {
	user: {label: 'user', id: (d, i) => d.user(i), name: (d, i) => d.user(i)},
	container: {label: 'container', id: (d, i) => d.value('container', i),
		name: (d, i) => d.text('container', i) || '(no container)'},
	unit: {label: 'unit', id: (d, i) => d.value('unit', i), name: (d, i) => d.text('unit', i) || '(no unit)'},
	program: {label: 'program', id: (d, i) => d.value('name', i), name: (d, i) => d.text('name', i) || '(no name)'},
	process: {label: 'process', id: (d, i) => d.value('pid', i),
		name: (d, i) => `${d.value('pid', i)} ${d.text('name', i) ?? ''}`},
};

function newFrame(parent, level, id, label) {
	return {parent, level, id, label, last: label, steps: [[level, label]], kind: null, color: null, value: 0, rows: 0, kinds: [0, 0, 0, 0], children: []};
}

/**
 * Adds [anon, file, shmem, swap] to a frame and its parents, and, if kinds are a level, to frames
 * below it.
 */
function addLeaf(frame, parts, chosen, withKinds) {
	parts.forEach((bytes, k) => {
		if (!bytes || !chosen.has(KINDS[k].key))
			return;
		for (let f = frame; f; f = f.parent) {
			f.value += bytes;
			f.kinds[k] += bytes;
		}
		if (!withKinds)
			return;
		let leaf = frame.children.find(c => c.kind === KINDS[k].key);

		if (!leaf) {
			leaf = newFrame(frame, 'kind', KINDS[k].key, KINDS[k].label);
			leaf.kind = leaf.color = KINDS[k].key;
			frame.children.push(leaf);
		}
		leaf.value += bytes;
		leaf.kinds[k] += bytes;
	});
}

/** `levels`: keys of LEVELS, in order; `kinds`: a set of keys of KINDS. */
function buildTree(data, levels, kinds, withKinds) {
	const root = newFrame(null, 'all', 'all', 'all'), index = new Map([[root, new Map()]]);
	const others = data.doc.others;

	root.missing = 0;
	for (let i = 0; i < data.rows; i++) {
		let frame = root;

		root.rows++;
		for (const key of levels) {
			const id = LEVELS[key].id(data, i), below = index.get(frame);
			let next = below.get(id);

			if (!next) {
				next = newFrame(frame, key, id, LEVELS[key].name(data, i));
				below.set(id, next);
				index.set(next, new Map());
				frame.children.push(next);
			}
			next.rows++;
			frame = next;
		}
		if (!data.counted(i))
			continue;
		const parts = KINDS.map(k => data.value(k.column, i));

		root.missing += parts[0] === null;
		addLeaf(frame, parts, kinds, withKinds);
	}
	if (others) {
		const more = newFrame(root, 'others', 'others', data.rows ?
			`(${others.processes} more)` : `(${countText(others.processes, 'process', 'processes')})`);

		root.children.push(more);
		more.rows = others.processes;
		root.rows += more.rows;
		addLeaf(more, KINDS.map(k => others[`${k.column}_bytes`]), kinds, withKinds);
	}
	prune(root);
	joinSingles(root);
	return root;
}

/**
 * Joins each frame with its only child, which has the same rows and bytes: a level without a choice
 * is no step of a zoom. `label` has all names, `last` the last one, `steps` the level and name of each.
 */
function joinSingles(frame) {
	for (;;) {
		const [child] = frame.children;

		if (frame.children.length !== 1 || !(child.level in LEVELS) || child.rows !== frame.rows)
			break;
		// A process has the name of its program, and its pid.
		frame.label = child.label === `${child.id} ${frame.last}` && frame.parent ?
			frame.label.slice(0, frame.label.length - frame.last.length) + child.label :
			`${frame.label} › ${child.label}`;
		frame.last = child.label;
		frame.steps.push(...child.steps);
		frame.children = child.children;
		for (const grandchild of frame.children)
			grandchild.parent = frame;
	}
	frame.children.forEach(joinSingles);
}

/** Removes empty frames and sorts the others by size, kinds in their own order. */
function prune(frame) {
	const place = f => KINDS.findIndex(k => k.key === f.kind);

	frame.children = frame.children.filter(c => c.value > 0);
	frame.children.sort((a, b) => a.kind && b.kind ? place(a) - place(b) : b.value - a.value);
	frame.children.forEach(prune);
}

/** The frames from the root down to a frame. */
function pathOf(frame) {
	const path = [];

	for (let f = frame; f; f = f.parent)
		path.unshift(f);
	return path;
}

/**
 * The frame with the same path in another tree, or its nearest ancestor there. Frames that are
 * joined in one tree may be apart in the other.
 */
function followPath(root, path) {
	const wanted = path.flatMap(f => f.steps).slice(1);
	let frame = root, done = root.steps.length - 1;
	const fits = (steps, from) => steps.slice(0, wanted.length - from).every(([level, label], i) =>
		wanted[from + i][0] === level && wanted[from + i][1] === label);

	if (!fits(root.steps.slice(1), 0))
		return root;
	while (done < wanted.length) {
		const next = frame.children.find(c => fits(c.steps, done));

		if (!next)
			break;
		done += next.steps.length;
		frame = next;
	}
	return frame;
}

/**
 * Marks the frames with a name that contains the query, and all below them. Returns their bytes and
 * count.
 */
function markMatches(root, query) {
	const needle = query.toLowerCase(), found = {bytes: 0, frames: 0};
	const mark = (frame, inside) => {
		const hit = needle !== '' && frame.parent !== null && frame.level !== 'kind' &&
			frame.label.toLowerCase().includes(needle);

		if (hit && !inside)
			found.bytes += frame.value;
		found.frames += hit;
		frame.match = hit || inside;
		for (const child of frame.children)
			mark(child, frame.match);
	};

	mark(root, false);
	return found;
}

/**
 * Merges the children of a frame from the i-th on, which have no room, into one frame that can be
 * zoomed into.
 */
function restOf(frame, i) {
	const some = frame.children.slice(i), rest = newFrame(frame, 'rest', 'rest', `${some.length} smaller`);

	rest.children = some;
	rest.match = some.some(child => child.match);
	for (const child of some) {
		rest.value += child.value;
		rest.rows += child.rows;
		child.kinds.forEach((bytes, k) => {
			rest.kinds[k] += bytes;
		});
	}
	return rest;
}

/** The kinds of a frame as frames, without the levels between. */
function kindsOf(frame) {
	return KINDS.map((kind, k) => Object.assign(newFrame(frame, 'kind', kind.key, kind.label),
		{kind: kind.key, color: kind.key, value: frame.kinds[k], match: frame.match})).filter(f => f.value);
}

const NARROW = 3; // pixels: narrower frames are merged with their smaller siblings

/**
 * Boxes {frame, x, y, w, h} from the top down: the frames above `top` at full width (`above`), then
 * the frames below it, with kinds on the last of `depth` levels. The last frame above them fills the
 * levels between.
 */
function layIcicle(top, width, rowHeight, depth, withKinds) {
	const path = pathOf(top).slice(0, -1);
	const boxes = path.map((frame, level) =>
		({frame, x: 0, y: level * rowHeight, w: width, h: rowHeight, above: true}));
	const put = (frame, x, w, from, to) =>
		boxes.push({frame, x, y: from * rowHeight, w, h: (to - from) * rowHeight});
	const putKinds = (frame, x, w) => {
		for (const kind of frame.level === 'rest' ? kindsOf(frame) : frame.children) {
			const part = w * kind.value / frame.value;

			put(kind, x, part, depth, depth + 1);
			x += part;
		}
	};
	const lay = (frame, x, w, level) => {
		const short = frame !== top && (frame.level === 'rest' || frame.level === 'others');
		const last = short || frame.children.length === 0 || frame.children[0].kind;

		put(frame, x, w, level, last ? Math.max(level + 1, depth + !withKinds) : level + 1);
		if (withKinds && (short || frame.children[0]?.kind)) {
			putKinds(frame, x, w);
			return;
		}
		for (const [i, child] of short ? [] : frame.children.entries()) {
			const part = w * child.value / frame.value;

			if (part < NARROW && i < frame.children.length - 1) {
				const rest = restOf(frame, i), left = w * rest.value / frame.value;

				if (left >= 0.5)
					lay(rest, x, left, level + 1);
				break;
			}
			lay(child, x, part, level + 1);
			x += part;
		}
	};

	if (top.value > 0)
		lay(top, 0, width, path.length);
	return boxes;
}

/** The number of levels below a frame. */
function depthBelow(frame) {
	return frame.children.reduce((n, c) => Math.max(n, 1 + depthBelow(c)), 0);
}

const HEAD = 18; // pixels, of a box's name

/** Squarified treemap (Bruls, Huizing, van Wijk 2000): rows along the shorter side. */
function squarify(children, total, area, place) {
	let {x, y, w, h} = area, left = total, start = 0;
	const worst = (sum, min, max, side, scale) => {
		const thick = sum * scale / side;

		return Math.max(max * scale / thick / thick, thick * thick / (min * scale));
	};

	while (start < children.length && left > 0 && w > 0 && h > 0) {
		const side = Math.min(w, h), scale = w * h / left, max = children[start].value;
		let end = start, sum = 0, ratio = Infinity;

		while (end < children.length) {
			const v = children[end].value, next = worst(sum + v, v, max, side, scale);

			if (next > ratio)
				break;
			ratio = next;
			sum += v;
			end++;
		}
		const thick = sum * scale / side;
		let along = 0;

		for (; start < end; start++) {
			const length = side * children[start].value / sum;

			place(children[start], w >= h ? {x, y: y + along, w: thick, h: length} :
				{x: x + along, y, w: length, h: thick});
			along += length;
		}
		if (w >= h)
			[x, w] = [x + thick, w - thick];
		else
			[y, h] = [y + thick, h - thick];
		left -= sum;
	}
}

/** Nested boxes while they have room. */
function layTreemap(top, width, height) {
	const boxes = [];
	const lay = (frame, area) => {
		const room = area.w > 40 && area.h > HEAD + 16, edge = 2;

		const head = room && frame.children.length > 0;

		boxes.push({frame, ...area, nested: true, head});
		if (!head)
			return;
		squarify([...frame.children].sort((a, b) => b.value - a.value), frame.value, {
			x: area.x + edge, y: area.y + HEAD, w: area.w - 2 * edge, h: area.h - edge - HEAD,
		}, lay);
	};

	if (top.value > 0)
		lay(top, {x: 0, y: 0, w: width, h: height});
	return boxes;
}
