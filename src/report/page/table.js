// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The table: head, rows and sums. Only visible rows are elements, so that thousands of rows stay
// cheap.

const ROW = 28; // pixels, as in page.css
const SPARE = 12; // extra rows above and below the visible ones
const WIDTHS = {bytes: 9.5, number: 6, time: 20, percent: 5}; // characters

class Table {
	/** `onSort`: called with the key of a column. */
	constructor(onSort) {
		this.onSort = onSort;
		this.scroller = byId('scroller');
		this.table = byId('table');
		this.body = this.table.tBodies[0];
		this.rows = null;
		this.scroller.addEventListener('scroll', () => this.fill(false), {passive: true});
		new ResizeObserver(() => this.fill(false)).observe(this.scroller);
	}

	/**
	 * `columns`: [{key, header, kind, help, chars, limit}], of which the first stays visible; `foot`:
	 * [{label, cell: key → cell, className}].
	 */
	show(rows, columns, sort, foot) {
		Object.assign(this, {rows, columns, order: sortedOrder(rows, sort)});
		this.size();
		this.head(sort);
		this.table.tFoot.replaceChildren(...foot.map(line => this.footRow(line)));
		this.table.setAttribute('aria-rowcount', rows.length + 1 + foot.length);
		this.fill(true);
	}

	/** Fixed widths: columns must not move while rows change. */
	size() {
		const narrow = innerWidth < 640;
		let sum = 0;

		this.table.querySelector('colgroup').replaceChildren(...this.columns.map(c => {
			const limit = narrow ? 12 : c.limit ?? 32, col = element('col');
			const wide = Math.min(Math.max(WIDTHS[c.kind] ?? c.chars, sum ? 0 : 16), limit);
			const chars = Math.max(wide, c.header.length * 1.05 + 1) + 2;

			col.style.width = `${chars}ch`;
			sum += chars;
			return col;
		}));
		this.table.style.width = `max(100%, ${sum}ch)`;
	}

	head(sort) {
		const cells = this.columns.map((c, i) => {
			const mark = sort?.key === c.key ? sort.down ? ' ↓' : ' ↑' : '';
			const button = element('button', {type: 'button', title: c.help}, c.header + mark);
			const th = element('th', {scope: 'col', className: `sorts ${this.classOf(c, i)}`}, button);

			if (mark)
				th.setAttribute('aria-sort', sort.down ? 'descending' : 'ascending');
			button.dataset.key = c.key;
			button.addEventListener('click', () => this.onSort(c.key));
			return th;
		});
		const focused = document.activeElement?.dataset?.key;

		this.table.tHead.replaceChildren(element('tr', {'aria-rowindex': 1}, ...cells));
		if (focused && this.table.tHead.contains(document.activeElement) === false)
			this.table.tHead.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
	}

	classOf(column, i) {
		return `${column.kind === 'text' ? 'text' : ''} ${i ? '' : 'sticky'}`.trim();
	}

	put(tag, column, i, cell) {
		const e = element(tag, {className: this.classOf(column, i)}, cell.text);

		if (cell.absent)
			e.classList.add('absent');
		if (cell.title)
			e.title = cell.title;
		return e;
	}

	footRow({label, cell, className}) {
		const cells = this.columns.map((c, i) => i ? this.put('td', c, i, cell(c.key)) :
			this.put('th', c, i, {text: label, title: label}));

		cells[0].scope = 'row';
		return element('tr', {className: className ?? ''}, ...cells);
	}

	row(at) {
		const i = this.order[at];
		const cells = this.columns.map((c, n) => this.put(n ? 'td' : 'th', c, n, this.rows.cell(c.key, i)));

		cells[0].scope = 'row';
		return element('tr', {'aria-rowindex': at + 2}, ...cells);
	}

	/** Renders the visible rows, between two spacers as high as the other rows. */
	fill(anew) {
		if (!this.rows)
			return;
		const {scrollTop, clientHeight} = this.scroller;
		const first = Math.max(0, Math.floor(scrollTop / ROW) - SPARE);
		const last = Math.min(this.rows.length, Math.ceil((scrollTop + (clientHeight || 600)) / ROW) + SPARE);

		if (!anew && Math.abs(first - this.first) < SPARE / 2 && Math.abs(last - this.last) < SPARE / 2)
			return;
		const space = count => {
			const cell = element('td', {colSpan: this.columns.length});

			cell.style.height = `${count * ROW}px`;
			return element('tr', {className: 'space', role: 'presentation'}, cell);
		};
		const rows = [];

		for (let at = first; at < last; at++)
			rows.push(this.row(at));
		Object.assign(this, {first, last});
		this.body.replaceChildren(space(first), ...rows, space(this.rows.length - last));
	}
}
