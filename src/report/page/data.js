// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Reads the document of src/report/html_data.c: values, texts, sums, and why a value is missing. A
// value that was not measured is null.

const REASONS = {
	skipped: 'not read: not requested, or too small for the first rows',
	gone: 'the process ended before it was read',
	denied: 'the kernel denied reading it',
	timeout: 'the process is stuck and was not read in time',
	raced: 'the process changed during each reading',
	kernel_thread: 'a kernel thread has no memory of its own',
	unsupported: 'this kernel or this /proc does not provide it',
	another_reference: 'something that is not visible holds a file of the process',
};

/** A sum: bytes (null: no value is known), how many values are missing, and why it is not known. */
class Sum {
	constructor() {
		this.bytes = null;
		this.missing = 0;
		this.reason = null;
	}

	add(value, missing = 1) {
		if (value === null)
			this.missing += missing;
		else
			this.bytes += value;
	}

	/** As in src/query/sums.c: what several rows have in common is not known. */
	hide(reason) {
		this.bytes = null;
		this.reason = reason;
	}
}

class Data {
	constructor(doc) {
		this.doc = doc;
		this.rows = doc.rows;
		this.strings = doc.strings.map(visible);
		this.columns = new Map(doc.columns.map(c => [c.key, c]));
		this.wholes = {pss: doc.system.memory_total_bytes, swap: doc.system.swap_total_bytes};
		this.ranks = null;
	}

	/** The value of a row: bytes, a number, ms, or the index of a text. */
	value(key, row) {
		const c = this.columns.get(key);

		if (!c)
			return null;
		if (c.kind === 'percent')
			return this.share(c.of, this.value(c.of, row));
		return Array.isArray(c.values) ? c.values[row] : c.values;
	}

	/** The text in a text column, null if there is none. */
	text(key, row) {
		const v = this.value(key, row);

		return v === null ? null : this.strings[v];
	}

	/** The user name, or the uid without a name. */
	user(row) {
		return this.text('user', row) ?? String(this.value('uid', row) ?? ABSENT);
	}

	/** True if sums include the row: a shared address space counts once. */
	counted(row) {
		const c = this.doc.counted;

		return Boolean(Array.isArray(c) ? c[row] : c);
	}

	/** A share of RAM or swap, in percent. */
	share(of, bytes) {
		return bytes === null || !this.wholes[of] ? null : 100 * bytes / this.wholes[of];
	}

	/** Why the value of a row is missing. */
	reason(key, row) {
		const c = this.columns.get(key);

		if (c.kind === 'text')
			return `no ${c.key}`;
		if (c.kind === 'percent')
			return this.reason(c.of, row);
		const of = /^node\d+$/.test(c.key) ? 'nodes' :
			/^swap_(ram|incompressible|filled|disk)/.test(c.key) ? 'swap_ram' : c.key;
		const status = this.text(`${of}_status`, row) ?? this.text('pss_status', row);

		return REASONS[status] ?? 'not measured';
	}

	/** A text, with its bytes if it is not UTF-8. */
	raw(number) {
		const hex = this.doc.raw[number];

		return hex ? `${this.strings[number]}\nbytes: ${hex}` : this.strings[number];
	}

	/**
	 * The sum of a column of bytes over rows, and, if withOthers, over the rows that are not in
	 * the document.
	 */
	sum(key, rows, withOthers) {
		const sum = new Sum();
		const others = withOthers ? this.doc.others : null;
		const values = [];

		for (const row of rows) {
			if (this.counted(row))
				values.push(this.value(key, row));
		}
		for (const value of values)
			sum.add(value);
		if (others)
			sum.add(others[`${key}_bytes`], others.processes);
		if (key === 'freed' && (values.length > 1 || others))
			sum.hide('it is known of single processes: zmem-bpf -g shows it of groups');
		if (key === 'hugetlb' && [...values, others?.hugetlb_bytes].filter(Boolean).length > 1)
			sum.hide('the processes may share these pages');
		return sum;
	}

	/** The rank of a text in alphabetical order. */
	rank(number) {
		if (!this.ranks) {
			const collator = new Intl.Collator('en', {numeric: true});
			const order = this.strings.map((_, i) => i);

			order.sort((a, b) => collator.compare(this.strings[a], this.strings[b]) || a - b);
			this.ranks = new Uint32Array(order.length);
			order.forEach((number_, place) => {
				this.ranks[number_] = place;
			});
		}
		return this.ranks[number];
	}

	/** Returns a test whether the query is in a text of the row or begins its pid. */
	matcher(query) {
		const needle = query.toLowerCase();
		const keys = ['name', 'comm', 'user', 'unit', 'container', 'cgroup', 'cmdline']
			.filter(key => this.columns.has(key));
		const hit = this.strings.map(s => s.toLowerCase().includes(needle));

		return row => String(this.value('pid', row)).startsWith(needle) ||
			keys.some(key => hit[this.value(key, row)] === true);
	}
}
