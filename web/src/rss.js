// rss.js - where the resident memory of a process is, and the columns for it.
// SPDX-License-Identifier: Apache-2.0
import { make } from './dom.js';
import { bytes, clean, count, percent } from './text.js';

// In this order; the same words as in the text of the command.
const CLASSES = [
	['living', 'living blocks, as requested'],
	['rounding', 'headers and rounding of these blocks'],
	['partly_free', 'free parts of heap pages that have a living block'],
	['free', 'heap pages without a living block: free, not returned'],
	['heap', 'heap, not split'],
	['stacks', 'stacks'],
	['modules', 'code and data of program and libraries'],
	['anonymous', 'other anonymous mappings'],
	['shared', 'shared memory'],
	['files', 'files'],
	['seep', 'seep\u2019s own'],
];

// Has somebody read which pages are resident, so that sites hold pages?
export function hasHolds(model) {
	return model.processes.some((p) => p.rss?.split);
}

function line(size, whole, words) {
	return make('tr', '', [
		make('td', 'num', count(size)),
		make('td', 'num', percent(Math.abs(size), whole)),
		make('td', '', words),
	]);
}

function mapping(m) {
	return clean(m.name ?? '') || `${m.start.toString(16)}\u2013${m.end.toString(16)}`;
}

function account(p) {
	const { rss } = p;
	const rows = [];

	for (const [key, words] of CLASSES) {
		if (rss.classes[key] > 0)
			rows.push(line(rss.classes[key], rss.rss_bytes, words));
		if (key === 'anonymous')
			for (const m of rss.mappings)
				rows.push(line(m.bytes, rss.rss_bytes, `of these: ${mapping(m)}`));
	}
	if (rss.moved_bytes !== 0)
		rows.push(line(rss.moved_bytes, rss.rss_bytes, 'moved while it was read'));
	return make('table', 'rss', [make('tbody', '', rows)]);
}

// One process: the account, closed at first; of several there is none.
export function show(processes) {
	const [p] = processes;

	if (processes.length !== 1 || !p.rss)
		return [];
	const box = make('details', '', [
		make('summary', '', `RSS ${bytes(p.rss.rss_bytes)}: ` +
			`${bytes(p.rss.classes.living)} of it living blocks, ` +
			`${bytes(p.rss.heap_bytes)} heap`),
		account(p),
	]);

	if (!p.rss.split)
		box.append(make('p', 'soft',
			`The pages of the heap are not split: ${clean(p.rss.why ?? '')}.`));
	return [box];
}

// Of the table; `of(name)` is a column of sites, by row.
export function columns(of) {
	return [
		{ key: 'holds', label: 'holds', css: 'num wide',
			title: 'Resident pages that the blocks keep',
			of: (r) => of('holds_bytes')[r] },
		{ key: 'pins', label: 'pins', css: 'num wide',
			title: 'The part of these pages that is not their own',
			of: (r) => of('pins_bytes')[r] },
	];
}
