// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Draws lines and stacked areas of the history, at most an hour, as SVG. A value that was not measured
// is a gap.

const CHART_W = 1000, CHART_H = 200; // SVG units, independent of the size on the page
const HEADROOM = 1.1; // the top of a chart: this much of its largest value
const charts = { // what the page of incidents has otherwise
	most: 3600000, // the longest time span, ms
	begin: span => agoText(span.end - span.start),
	end: () => 'now',
	last: 'now',
	marks: [], // {time_ms, className, text}: lines across all charts; the text appears under the pointer
};
const SECOND_MS = 1000, MINUTE_MS = 60 * SECOND_MS, HOUR_MS = 60 * MINUTE_MS;

function svg(name, attributes, ...children) {
	const e = document.createElementNS('http://www.w3.org/2000/svg', name);

	for (const [key, value] of Object.entries(attributes))
		e.setAttribute(key, value);
	e.append(...children);
	return e;
}

/** The time span of a chart: from the first point, at most charts.most before the newest, to the newest. */
function chartSpan(points) {
	const end = points[points.length - 1].time_ms;

	return {start: Math.max(points[0].time_ms, end - charts.most), end};
}

/** A single point as two, so that a chart shows its value as a level line. */
function chartPoints(points) {
	return points.length === 1 ? [{...points[0], time_ms: points[0].time_ms - 1}, ...points] : points;
}

/** "5 minutes ago", or nothing for no time. */
function agoText(ms) {
	if (ms >= HOUR_MS - MINUTE_MS / 2)
		return 'an hour ago';
	if (ms >= MINUTE_MS)
		return `${countText(Math.round(ms / MINUTE_MS), 'minute')} ago`;
	return ms >= SECOND_MS ? `${countText(Math.round(ms / SECOND_MS), 'second')} ago` : '';
}

function chartX(span, ms) {
	return ((ms - span.start) / (span.end - span.start) * CHART_W).toFixed(1);
}

function chartY(value, max) {
	return (CHART_H - value / max * (CHART_H - 4)).toFixed(1);
}

/** A path through the known values, with gaps for unknown ones. A value between gaps is a dot. */
function linePath(points, span, max, value) {
	let path = '', pen = 'M';

	for (const p of points) {
		const v = value(p);

		if (v === null) {
			pen = 'M';
			continue;
		}
		path += `${pen}${chartX(span, p.time_ms)} ${chartY(v, max)}${pen === 'M' ? 'h0' : ''}`;
		pen = 'L';
	}
	return path;
}

/** A chart of one line, with a title and the current, least and largest value. */
function lineChart(title, points, value, total) {
	const known = points.map(value).filter(v => v !== null);
	const span = chartSpan(points), max = Math.max(...known.map(v => v * HEADROOM), 1);
	const now = value(points[points.length - 1]);
	const text = known.length === 0 ? 'not measured' : `${charts.last} ${sizeText(now)}, min ${sizeText(Math.min(...known))}, ` +
		`max ${sizeText(Math.max(...known))}${total ? `, of ${sizeText(total)}` : ''}`;

	return chartBox(title, text, span, max, [svg('path', {class: 'line', d: linePath(points, span, max, value)})]);
}

function chartMarks(span) {
	return charts.marks.filter(m => m.time_ms >= span.start && m.time_ms <= span.end)
		.flatMap(m => {
			const d = `M${chartX(span, m.time_ms)} 0V${CHART_H}`, line = svg('path', {class: m.className, d});

			return m.text ? [line, svg('path', {class: 'near', d}, svg('title', {}, m.text))] : [line];
		});
}

function chartBox(title, text, span, max, paths, legend = []) {
	const drawing = svg('svg', {viewBox: `0 0 ${CHART_W} ${CHART_H}`, preserveAspectRatio: 'none', role: 'img',
		'aria-label': `${title}: ${text}`}, ...paths, ...chartMarks(span));

	return element('div', {className: 'chart'},
		element('div', {className: 'gauge-head'}, element('b', {}, title), element('span', {className: 'muted small'}, text)),
		drawing, element('div', {className: 'span muted small'}, element('span', {}, charts.begin(span)),
			element('span', {}, `top: ${sizeText(max)}`), element('span', {}, charts.end(span))), ...legend);
}

/** The names of the groups with the largest sums over all points. */
function heaviestNames(points, count) {
	const sums = new Map();

	for (const p of points) {
		for (const g of p.groups)
			sums.set(g.name, (sums.get(g.name) ?? 0) + g.bytes);
	}
	return [...sums].sort((a, b) => b[1] - a[1]).slice(0, count).map(([name]) => name);
}

/** Stacked areas, the first name at the bottom. A group is 0 at points where it was not among the largest. */
function stackChart(title, points, count) {
	const names = heaviestNames(points, count), span = chartSpan(points);
	const rows = points.map(p => names.map(name => p.groups.find(g => g.name === name)?.bytes ?? 0));
	const max = Math.max(...rows.map(row => HEADROOM * row.reduce((a, b) => a + b, 0)), 1);
	const upTo = (row, n) => row.slice(0, n).reduce((a, b) => a + b, 0);
	const last = rows[rows.length - 1];
	const legend = element('ul', {className: 'legend'});
	const paths = names.map((name, n) => {
		const point = (i, level) => `${chartX(span, points[i].time_ms)} ${chartY(upTo(rows[i], level), max)}`;
		const there = points.map((_, i) => point(i, n + 1));
		const back = points.map((_, i) => point(i, n)).reverse();

		legend.append(element('li', {}, element('span', {className: `swatch tone-${n}`}),
			element('span', {}, visible(name)), element('span', {}, sizeText(last[n]))));
		return svg('path', {class: `area tone-${n}`, d: `M${there.join('L')}L${back.join('L')}Z`});
	});

	return chartBox(title, `${names.length} groups, together ${sizeText(upTo(last, names.length))} ${charts.last}`, span, max, paths, [legend]);
}
