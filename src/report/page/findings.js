// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What is wrong with the memory of the machine, as cards at the top of the page, the most urgent first.

const FINDINGS_FIRST = 3; // cards that are seen at first
const shownFindings = {doc: null, open: false};

/** The text of an element, if it changes: a selection, and what is read aloud, stay where it does not. */
function setText(e, text) {
	if (e.textContent !== text)
		e.textContent = text;
}

function newCard() {
	return element('li', {}, element('p', {}, element('b'), element('span', {className: 'level'})),
		element('p'), element('code'));
}

/** The command of a finding is not that of a recording, which is of another time. */
function fillCard(card, {level, text, run}, recorded) {
	const [, title, said] = /^(.*?): (.*)$/s.exec(text), [head, body, command] = card.children;

	card.className = `card ${level}`;
	setText(head.firstChild, visible(title));
	setText(head.lastChild, level);
	setText(body, visible(said));
	setText(command, run === null ? '' : visible(`zmem-bpf ${run}`));
	command.hidden = run === null || recorded;
}

/** "1 critical, 2 warnings" */
function levelsText(list) {
	const count = level => list.filter(f => f.level === level).length;

	return [[count('critical'), 'critical', 'critical'], [count('warning'), 'warning'], [count('hint'), 'hint']]
		.filter(([n]) => n).map(([n, ...words]) => countText(n, ...words)).join(', ');
}

function showFindings(doc) {
	const list = doc.findings, place = byId('finding-list'), more = list.length - FINDINGS_FIRST, {open} = shownFindings;

	shownFindings.doc = doc;
	byId('findings').classList.toggle('none', !list.length);
	setText(byId('finding-count'), levelsText(list));
	while (place.children.length < list.length)
		place.append(newCard());
	while (place.children.length > list.length)
		place.lastChild.remove();
	list.forEach((f, i) => {
		fillCard(place.children[i], f, doc.recorded);
		place.children[i].hidden = i >= FINDINGS_FIRST && !open;
	});
	byId('finding-more').hidden = more <= 0;
	byId('finding-more').setAttribute('aria-expanded', open);
	setText(byId('finding-more'), open ? 'Fewer' : `${more} more`);
}

byId('finding-more').addEventListener('click', () => {
	shownFindings.open = !shownFindings.open;
	showFindings(shownFindings.doc);
});
