// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Formats values and texts as the program's tables do, and makes elements from texts, which are
// never parsed as markup.

const ABSENT = '–';
const UNITS = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

/** Bytes to three digits: "0", "512 B", "4 KiB", "5.50 KiB", "12.3 MiB", "1023 GiB". */
function sizeText(bytes) {
	if (bytes === null)
		return ABSENT;
	const sign = bytes < 0 ? '−' : '';
	let v = Math.abs(bytes), unit = -1;

	if (v < 1024)
		return v ? `${sign}${v} B` : '0';
	do {
		v /= 1024;
		unit++;
	} while (unit < UNITS.length - 1 && v >= 1023.5);
	const whole = unit === 0 && Number.isInteger(v);
	const digits = whole ? 0 : v < 9.995 ? 2 : v < 99.95 ? 1 : 0;

	return `${sign}${v.toFixed(digits)} ${UNITS[unit]}`;
}

/** "1,234,567 bytes" */
function exactText(bytes) {
	return `${bytes.toLocaleString('en-US')} bytes`;
}

function percentText(part, whole) {
	return whole > 0 && part !== null && part >= 0 ? `${(100 * part / whole).toFixed(1)} %` : ABSENT;
}

function countText(n, one, many = `${one}s`) {
	return `${n.toLocaleString('en-US')} ${n === 1 ? one : many}`;
}

/** "2026-01-31 23:59:59Z": UTC. */
function utcText(ms) {
	const d = new Date(ms);

	return Number.isNaN(d.getTime()) ? ABSENT : d.toISOString().replace('T', ' ').replace(/\.\d+/, '');
}

/** "2026-02-01 00:59:59+01:00": the reader's time, as in tables. */
function timeText(ms) {
	const east = -new Date(ms).getTimezoneOffset(), minutes = Math.abs(east);
	const two = n => String(n).padStart(2, '0');
	const offset = east ? `${east < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}` : 'Z';

	return utcText(ms + east * 60000).replace('Z', offset);
}

/** The characters that text_safe() in src/write/text.h rejects. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu;

/** Replaces characters that are invisible or would turn the direction of what follows. */
function visible(text) {
	return text.replace(INVISIBLE, c => {
		const code = c.charCodeAt(0);

		return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '\u2421' : '\ufffd';
	});
}

/** Makes an element with properties and with text or children. */
function element(name, properties = {}, ...children) {
	const e = document.createElement(name);

	for (const [key, value] of Object.entries(properties)) {
		if (key.startsWith('aria-') || key === 'role' || key === 'scope')
			e.setAttribute(key, value);
		else
			e[key] = value;
	}
	e.append(...children);
	return e;
}

function byId(id) {
	return document.getElementById(id);
}
