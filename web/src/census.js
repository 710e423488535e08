// census.js - live blocks by C++ type, and what could be given back: two tables.
// SPDX-License-Identifier: Apache-2.0
import { $, make } from './dom.js';
import { bytes, clean, count, plural, signed } from './text.js';

const SHOWN = 500; // rows

const KNOWN_BY = {
	vtable: 'the block begins with the vtable of this class',
	shared_ptr: 'a control block of shared_ptr has it, or points to it',
	frames: 'template arguments of the functions that allocated it',
};

// {label, css, of: row -> what is sorted by, text: row -> what is shown, title}
function typeColumns(isCompared) {
	const grown = (r, unit) => r[unit] - r[`before_${unit}`];
	const number = (label, of, format, isSigned) => ({ label, css: 'number', of,
		text: (r) => signed(of(r), isSigned, format) });

	return [
		...isCompared ? [
			number('blocks since', (r) => grown(r, 'blocks'), count, true),
			number('bytes since', (r) => grown(r, 'bytes'), bytes, true)] : [],
		number('blocks', (r) => r.blocks, count, false),
		number('bytes', (r) => r.bytes, bytes, false),
		{ label: 'known by', css: '', of: (r) => r.basis, text: (r) => r.basis,
			title: (r) => KNOWN_BY[r.basis] ?? '' },
		{ label: 'type', css: 'name', of: (r) => r.type,
			text: (r) => clean(r.type) + (r.container ? ` in ${r.container}` : ''),
			title: (r) => clean(r.type) },
	];
}

const spareColumns = [
	['copies', 'equal', 'blocks that are equal to others'],
	['zeros at the end', 'zero_tails', 'bytes of zeros at the end of blocks'],
	['never written', 'never_written', 'pages that take no memory yet'],
].map(([label, key, title]) => ({ label, css: 'number', of: (r) => r[key].bytes,
	text: (r) => r[key].blocks > 0 ? bytes(r[key].bytes) : '',
	title: (r) => r[key].blocks > 0 ? `${title}: ${plural(r[key].blocks, 'block')}` : '' }))
	.concat([{ label: 'place', css: 'name', of: (r) => r.place,
		text: (r) => clean(r.place), title: (r) => clean(r.place) }]);

function compare(a, b) {
	return typeof a === 'number' ? b - a : a < b ? -1 : a > b ? 1 : 0;
}

function body(columns, rows) {
	return make('tbody', '', rows.slice(0, SHOWN).map((r) =>
		make('tr', '', columns.map((c) => {
			const cell = make('td', c.css, c.text(r));

			if (c.title)
				cell.title = c.title(r);
			return cell;
		}))));
}

// Rows come in the order of the command; a click on a heading sorts them.
function table(columns, rows, label) {
	const all = make('table', 'census');
	const heads = columns.map((c) => {
		const button = make('button', 'quiet', c.label);
		const head = make('th', c.css, [button]);

		button.type = 'button';
		head.scope = 'col';
		button.addEventListener('click', () => {
			for (const h of heads)
				h.removeAttribute('aria-sort');
			head.setAttribute('aria-sort',
				c.css === 'number' ? 'descending' : 'ascending');
			all.replaceChild(body(columns,
				[...rows].sort((x, y) => compare(c.of(x), c.of(y)))),
			all.tBodies[0]);
		});
		return head;
	});

	all.append(make('caption', 'off-screen', label),
		make('thead', '', [make('tr', '', heads)]), body(columns, rows));
	return make('div', 'census-scroller', [all]);
}

function more(rows) {
	return rows.length <= SHOWN ? null : make('p', 'soft',
		`${count(rows.length - SHOWN)} more are in the JSON of seep leaks.`);
}

function typesOf(census) {
	const none = census.untyped;
	const share = census.bytes > 0 ? 100 * none.bytes / census.bytes : 0;
	const isCompared = census.before !== undefined;

	return [
		make('p', 'soft', `${plural(census.blocks, 'block')}, ` +
			`${bytes(census.bytes)}. No type is known of ` +
			`${plural(none.blocks, 'block')}, ${bytes(none.bytes)} ` +
			`(${share.toFixed(1)} % of the bytes).`),
		...census.types.length > 0 ?
			[table(typeColumns(isCompared), census.types, 'Live blocks by type'),
				more(census.types)] : [],
	];
}

function spareOf(census) {
	return [
		make('h3', '', 'What could be given back'),
		make('p', 'soft', `Copies of other blocks: ${bytes(census.equal.bytes)}. ` +
			`Zeros at the end: ${bytes(census.zero_tails.bytes)}. Pages never ` +
			`written, which take no memory: ${bytes(census.never_written.bytes)}.`),
		...census.insight.length > 0 ?
			[table(spareColumns, census.insight, 'What could be given back'),
				more(census.insight)] : [],
	];
}

export function showCensus(head) {
	const census = head.census;

	$('census-section').hidden = !census;
	if (!census)
		return;
	$('census-title').textContent = census.types ? 'Types' : 'Insight';
	$('census').replaceChildren(...[
		...census.types ? typesOf(census) : [],
		...census.insight ? spareOf(census) : [],
	].filter(Boolean));
}
