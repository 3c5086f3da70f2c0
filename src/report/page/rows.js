// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The rows of the table: processes, or groups of them, with the same methods. Sorting.

const GROUPS = {
	name: 'program', app: 'application', cmdline: 'command line', user: 'user', unit: 'unit', container: 'container', pod: 'pod', namespace: 'namespace',
	cgroup: 'cgroup',
};

/** Cells are {text, title, absent}; number() is the value to sort by (null: last). */
class ProcessRows {
	constructor(data, rows) {
		this.data = data;
		this.rows = rows;
	}

	get length() {
		return this.rows.length;
	}

	number(key, i) {
		const v = this.data.value(key, this.rows[i]);

		return v !== null && this.data.columns.get(key).kind === 'text' ? this.data.rank(v) : v;
	}

	cell(key, i) {
		const {data} = this, row = this.rows[i], v = data.value(key, row), {kind} = data.columns.get(key);

		if (v === null && key === 'user')
			return {text: data.user(row), title: 'user ID: the name is not known'};
		if (v === null)
			return {text: ABSENT, title: data.reason(key, row), absent: true};
		switch (kind) {
		case 'text':
			return {text: data.strings[v] || '(empty)', title: data.raw(v), absent: !data.strings[v]};
		case 'bytes':
			return {text: sizeText(v), title: exactText(v)};
		case 'percent':
			return {text: v.toFixed(1)};
		case 'time':
			return {text: timeText(v)};
		default:
			return {text: String(v)};
		}
	}
}

class GroupRows {
	constructor(data, rows, keys) {
		const groups = new Map();

		for (const row of rows) {
			const id = JSON.stringify(keys.map(key => key === 'user' ? data.user(row) : data.value(key, row)));

			if (!groups.has(id))
				groups.set(id, []);
			groups.get(id).push(row);
		}
		this.data = data;
		this.groups = [...groups.values()];
		this.sums = new Map();
	}

	get length() {
		return this.groups.length;
	}

	/** The sum of a column of a group, cached: sorting reads it repeatedly. */
	sum(key, i) {
		if (!this.sums.has(key))
			this.sums.set(key, this.groups.map(rows => this.data.sum(key, rows, false)));
		return this.sums.get(key)[i];
	}

	/** The value that all rows of a group share; undefined if they differ. */
	common(key, i) {
		const first = this.data.value(key, this.groups[i][0]);

		return this.groups[i].every(row => this.data.value(key, row) === first) ? first : undefined;
	}

	number(key, i) {
		if (key === 'procs')
			return this.groups[i].length;
		const c = this.data.columns.get(key);

		if (c.kind === 'bytes')
			return this.sum(key, i).bytes;
		if (c.kind === 'percent')
			return this.data.share(c.of, this.sum(c.of, i).bytes);
		const v = this.common(key, i);

		if (v === undefined || v === null)
			return null;
		return c.kind === 'text' ? this.data.rank(v) : v;
	}

	cell(key, i) {
		if (key === 'procs')
			return {text: this.groups[i].length.toLocaleString('en-US')};
		const c = this.data.columns.get(key), row = this.groups[i][0];

		if (c.kind === 'bytes')
			return sumCell(this.sum(key, i), this.data.reason(key, row));
		if (c.kind === 'percent') {
			const share = this.number(key, i);

			return share === null ? {text: ABSENT, title: 'not measured', absent: true} : {text: share.toFixed(1)};
		}
		if (this.common(key, i) === undefined)
			return {text: '', title: 'differs within the group'};
		return new ProcessRows(this.data, [row]).cell(key, 0);
	}
}

/** Marks a sum with "≥" if some values are missing. */
function sumCell(sum, reason) {
	const lack = countText(sum.missing, 'process', 'processes');

	if (sum.bytes === null)
		return {text: ABSENT, title: sum.reason ?? reason ?? 'not measured', absent: true};
	if (sum.missing)
		return {text: `≥ ${sizeText(sum.bytes)}`, title: `${exactText(sum.bytes)}; ${lack} not measured`};
	return {text: sizeText(sum.bytes), title: exactText(sum.bytes)};
}

/** The indices of the rows in order; values that were not measured come last. */
function sortedOrder(rows, sort) {
	const order = Array.from({length: rows.length}, (_, i) => i);

	if (!sort)
		return order;
	const keys = order.map(i => rows.number(sort.key, i)), turn = sort.down ? -1 : 1;

	return order.sort((a, b) => {
		if (keys[a] === keys[b])
			return a - b;
		if (keys[a] === null || keys[b] === null)
			return keys[a] === null ? 1 : -1;
		return keys[a] < keys[b] ? -turn : turn;
	});
}

/** The column and direction that the rows arrived sorted by, or null. */
function givenSort(rows, data, keys) {
	const sorted = (key, down) => {
		const values = Array.from({length: rows.length}, (_, i) => rows.number(key, i)).filter(v => v !== null);

		return values.length > rows.length / 2 &&
			values.every((v, i) => i === 0 || (down ? v <= values[i - 1] : v >= values[i - 1]));
	};

	for (const key of ['pss', 'rss', ...keys].filter(k => /bytes|number/.test(data.columns.get(k)?.kind))) {
		for (const down of [true, false]) {
			if (sorted(key, down))
				return {key, down};
		}
	}
	return null;
}
