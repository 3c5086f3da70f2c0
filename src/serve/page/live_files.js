// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The page of files of serve: files.json.

async function fetchNew() {
	const doc = await askFor('files.json');

	return () => {
		show(doc);
		showPages('files', true);
	};
}

function shownTime() {
	return shown.timestamp_ms;
}

refresh();
