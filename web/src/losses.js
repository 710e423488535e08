// losses.js - losses, and the cost of tracing.
// SPDX-License-Identifier: Apache-2.0
import { make } from './dom.js';
import { bytes, clean, count, percent } from './text.js';

function sum(processes, part) {
	const total = new Map();

	for (const p of processes)
		for (const [key, n] of Object.entries(p[part]))
			if (n > 0)
				total.set(key, (total.get(key) ?? 0) + n);
	return total;
}

function block(title, items, none) {
	return make('div', '', [make('h4', '', title), items.length === 0 ?
		make('p', 'soft', none) :
		make('ul', '', items.map(([n, words]) => make('li', '', [
			make('span', 'num', n), make('span', 'words', words)])))]);
}

function counts(head, processes, part) {
	return [...sum(processes, part)].map(([key, n]) =>
		[count(n), head.words[key] ?? key]);
}

export function show(box, model, processes) {
	const head = model.head;
	const merged = processes.reduce((n, p) => n + p.merged, 0);
	const own = processes.reduce((n, p) => n + p.own_bytes, 0);
	const used = processes.reduce((n, p) => n + p.used_bytes, 0);
	const peak = processes.reduce((n, p) => n + p.totals.peak_bytes, 0);
	const lost = counts(head, processes, 'lost');
	const inputs = [...new Set(processes.map((p) => p.input))]
		.map((i) => head.inputs[i]);

	if (merged > 0)
		lost.push([count(merged), 'sites are merged into boxes "(other)" below their callers: ' +
			`each has less than ${+(100 * head.threshold).toPrecision(2)}% of ` +
			'everything; --full shows them separately']);
	for (const input of inputs)
		if (input.filtered.sites > 0)
			lost.push([count(input.filtered.sites),
				'sites are left out by the filters of the command, with ' +
				`${bytes(input.filtered.live_bytes)} live`]);
	const notes = [...head.notes, ...inputs.flatMap((i) => i.notes)];

	box.replaceChildren(
		block('Not recorded, or merged', lost, 'No event is lost.'),
		block('Other counters',
			[...counts(head, processes, 'counted'), ...counts(head, processes, 'facts')],
			'Nothing out of the ordinary.'),
		block('Memory used by seep itself', [
			[bytes(own), 'memory of the collector inside the process'],
			[bytes(used), 'shared tables'],
			peak > 16 * (1 << 20) ? [percent(own + used, peak),
				'of the peak of the heap'] : null,
		].filter(Boolean), ''),
		notes.length > 0 ? make('div', 'notes', [make('h4', '', 'Notes'),
			make('ul', '', notes.map((n) => make('li', '', [
				make('span', 'words', clean(n))])))]) : '');
}
