// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A bar with its legend: of the machine, or of all files.

/** A bar of parts [name, class, bytes, help, the help is shown], with a legend in the same order. */
function gauge(title, note, total, parts, mark = 'muted') {
	const known = parts.filter(([, , bytes]) => bytes !== null && bytes !== undefined);
	const sum = Math.max(known.reduce((n, [, , bytes]) => n + Math.max(bytes, 0), 0), total, 1);
	const bar = element('div', {className: 'bar', role: 'img', 'aria-label': `${title}: ` + known
		.map(([name, , bytes]) => `${name} ${sizeText(bytes)}`).join(', ')});
	const legend = element('ul', {className: 'legend'});

	for (const [name, kind, bytes, help, shown] of known) {
		const share = percentText(bytes, total);
		const segment = element('i', {className: kind,
			title: `${name}: ${sizeText(bytes)}, ${share}\n${help}`}, element('span', {}, name));

		segment.style.flex = `0 1 ${100 * Math.max(bytes, 0) / sum}%`;
		if (bytes > 0)
			bar.append(segment);
		legend.append(element('li', {title: help}, element('span', {className: `swatch ${kind}`}),
			element('span', {}, name), element('span', {title: exactText(bytes)}, sizeText(bytes)),
			element('span', {}, share), shown && help ? element('small', {}, help) : ''));
	}
	return element('div', {className: 'gauge'}, element('div', {className: 'gauge-head'},
		element('span', {}, element('b', {}, title), ` ${sizeText(total)}`),
		element('span', {className: mark}, note)), bar, legend);
}
