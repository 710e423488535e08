// held.js - who holds what: the largest holders, and what each site retains.
// SPDX-License-Identifier: Apache-2.0
import { more, table } from './census.js';
import { $, make } from './dom.js';
import { bytes, clean, count, plural } from './text.js';

const number = (label, key, format) => ({ label, css: 'number', of: (r) => r[key],
	text: (r) => format(r[key]) });

const text = (label, key) => ({ label, css: 'name', of: (r) => r[key],
	text: (r) => clean(r[key]), title: (r) => clean(r[key]) });

const holderColumns = [
	number('retained', 'retained_bytes', bytes),
	number('blocks', 'retained_blocks', count),
	text('held by', 'way'),
];

const siteColumns = [
	number('retained', 'retained_bytes', bytes),
	number('live', 'live_bytes', bytes),
	number('blocks', 'live_blocks', count),
	number('site', 'id', (n) => n === null ? '' : String(n)),
	text('allocated in', 'function'),
];

export function showHeld(head) {
	const held = head.held;

	$('held-section').hidden = !held;
	if (!held)
		return;
	$('held').replaceChildren(...[
		make('p', 'soft', `${plural(held.blocks, 'block')}, ${bytes(held.bytes)}. ` +
			'Retained is what could be freed with them: they themselves, and ' +
			'all that only they hold.'),
		table(holderColumns, held.retained, 'The largest holders'),
		more(held.retained),
		table(siteColumns, held.sites, 'What each site retains'),
		more(held.sites),
	].filter(Boolean));
}
