// mappings.js - who mapped the memory that a process has mapped: one table.
// SPDX-License-Identifier: Apache-2.0
import { make } from './dom.js';
import { base, bytes, clean, count, plural } from './text.js';

const SHOWN = 200; // rows
const FRAMES = 4;

function frame(f) {
	const place = f.file ? ` ${base(clean(f.file))}:${f.line}` : '';

	return (clean(f.function ?? '') || clean(base(f.module ?? '?'))) + place;
}

function caller(c) {
	if (c.class === 'allocator')
		return '(of the allocator)';
	return c.frames.slice(0, FRAMES).map(frame).join(' \u2190 ') || '(no stack)';
}

function row(c) {
	const name = make('td', '', caller(c));

	name.title = c.frames.map(frame).join('\n');
	return make('tr', '', [
		make('td', 'num', bytes(c.bytes)),
		make('td', 'num', c.resident_bytes === null ? '\u2013' : bytes(c.resident_bytes)),
		make('td', 'num', count(c.ranges)),
		name,
	]);
}

// One process whose mappings were recorded: closed at first.
export function show(processes) {
	const [p] = processes;

	if (processes.length !== 1 || !p.mappings)
		return [];
	const { mappings } = p;
	const callers = mappings.callers.filter((c) => c.bytes > 0)
		.sort((a, b) => b.bytes - a.bytes);
	const resident = mappings.resident_bytes === null ? '' :
		`, ${bytes(mappings.resident_bytes)} of it resident`;

	return [make('details', '', [
		make('summary', '', `Mappings of its own: ${bytes(mappings.bytes)} in ` +
			`${plural(mappings.ranges, 'range')}${resident}`),
		make('table', 'rss mappings', [
			make('thead', '', [make('tr', '', ['size', 'resident', 'ranges', 'mapped by']
				.map((label) => make('th', '', label)))]),
			make('tbody', '', callers.slice(0, SHOWN).map(row)),
		]),
	])];
}
