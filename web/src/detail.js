// detail.js - one site: its figures, its stack, sizes, ages and course.
// SPDX-License-Identifier: Apache-2.0
import { colours } from './colours.js';
import { copy, make } from './dom.js';
import { bytes, count, date, plural, time } from './text.js';
import { section as score } from './score.js';
import { section as verdict } from './verdict.js';

const YOUNG_US = 1.6e6;
const TICK_US = 1e5;
const STEPS = 5; // of the first bucket of ages; here they are -5 to -1

// From when on a block is in this bucket of ages.
function bound(age) {
	if (age > 0)
		return YOUNG_US * 2 ** (age - 1);
	return age === 0 || age === -STEPS ? 0 : TICK_US * 2 ** (age + STEPS - 1);
}

function ageLabel(age, last) {
	const end = age < 0 && age > -STEPS ? 2 * bound(age) : bound(age + 1);

	if (age === 0 || age === -STEPS)
		return `< ${time(end)}`;
	if (age === last)
		return `\u2265 ${time(bound(age))}`;
	return `${time(bound(age))} \u2013 ${time(end)}`;
}

const range = (first, last) =>
	Array.from({ length: last - first + 1 }, (_, i) => first + i);

const AGES = 21; // the last is open
const SIZES = 32; // likewise
const SLOTS = 32; // of births
const BIRTH_ROWS = 8; // that show them

const power = (i) => `${2 ** (i % 10)} ${['bytes', 'KiB', 'MiB', 'GiB'][Math.floor(i / 10)]}`;

// Of a class of sizes: 0 - 1, 64 - 127, 1 - 2 KiB, 512 KiB - 1 MiB
function sizeLabel(i, last) {
	if (i === last)
		return `\u2265 ${power(i)}`;
	if (i < 10)
		return `${i === 0 ? 0 : count(2 ** i)} \u2013 ${count(2 ** (i + 1) - 1)}`;
	const from = i % 10 === 9 ? power(i) : 2 ** (i % 10);

	return `${from} \u2013 ${power(i + 1)}`;
}

// Sites with the same stack, looked at together.
class Some {
	constructor(model, sites) {
		this.model = model;
		this.sites = sites;
		this.site = sites[0];
		this.processes = [...new Set(Array.from(sites,
			(s) => model.processes[model.siteProcess[s]]))];
	}

	sum(name) {
		return this.sites.reduce((n, s) => n + this.model.figure(name, s), 0);
	}

	// of errors, which are independent
	error(name) {
		return Math.round(Math.hypot(...Array.from(this.sites,
			(s) => this.model.figure(name, s))));
	}

	least(name) {
		return Math.min(...Array.from(this.sites, (s) => this.model.figure(name, s)));
	}

	most(name) {
		return Math.max(...Array.from(this.sites, (s) => this.model.figure(name, s)));
	}

	// blocks by age or size, see Model.classes()
	classes(what, by) {
		const all = new Map();

		for (const s of this.sites)
			for (const [i, n] of this.model.classes(what, by, s))
				all.set(i, (all.get(i) ?? 0) + n);
		return all;
	}
}

function stackText(model, some) {
	const lines = [`${bytes(some.sum('live_bytes'))} live in ` +
		`${plural(some.sum('live_blocks'), 'block')}, ` +
		`${bytes(some.sum('allocated_bytes'))} allocated by ` +
		`${plural(some.sum('allocations'), 'call')} of ` +
		`${model.word('api', some.site) || 'several functions'}`];

	model.stackOf(some.site).forEach((f, i) => {
		const place = model.path(f);
		const module = model.moduleName(f);

		lines.push(`  #${i} ${model.fullName(f)}` +
			(place ? ` at ${place}` : '') +
			(module && !model.isMissing(f) ? ` [${module}]` : '') +
			(model.isInlined(f) ? ' (inlined)' : ''));
	});
	return `${lines.join('\n')}\n`;
}

// Of what lives, if the command was asked for it; and what nobody knows.
function olderRows(some, f) {
	const older = some.model.head.older;

	if (!older || some.model.isUser[some.site])
		return [];
	const rows = [[`older than ${older.than}`, f('older_bytes'), f('older_blocks'), '']];

	if (f('older_unknown_blocks') > 0)
		rows.push(['of unknown age', f('older_unknown_bytes'),
			f('older_unknown_blocks'), '']);
	return rows;
}

function figureRows(some) {
	const f = (name) => some.sum(name);
	const isSampled = some.processes.some((p) => p.sample_bytes > 0);
	const error = (name) => isSampled ? ` \u00b1 ${bytes(some.error(name))}` : '';
	const rows = [
		['live', f('live_bytes'), f('live_blocks'), error('error_live')],
		['at peak', f('peak_bytes'), f('peak_blocks'), ''],
		['allocated', f('allocated_bytes'), f('allocations'),
			error('error_allocated')],
		['freed', f('freed_bytes'), f('frees'), ''],
		['short-lived', f('temporary_bytes'), f('temporary_blocks'), ''],
		...olderRows(some, f),
		...(f('holds_bytes') > 0 ? [['holds', f('holds_bytes'), '', ' resident']] : []),
	].map(([label, size, blocks, more]) => make('tr', '', [
		make('th', '', label),
		make('td', 'num', count(size)),
		make('td', 'num', blocks === '' ? '' : count(blocks)),
		make('td', 'soft', bytes(size) + more),
	]));

	return make('table', 'figures', [
		make('thead', '', [make('tr', '', ['', 'bytes', 'blocks', ''].map(
			(t) => make('th', t ? 'num' : '', t)))]),
		make('tbody', '', rows)]);
}

function facts(model, some) {
	const { site, sites, processes } = some;
	const one = processes.length === 1 ? processes[0] : null;
	const after = (ms) => `${time(Math.max(0, ms) * 1000)} after the start`;
	const list = [
		model.isUser[site] ? ['pool', model.word('pool', site)] :
			['by', model.word('api', site) || '\u2013'],
	];
	const state = model.word('state', site);
	const suppression = model.word('suppression', site);

	if (one)
		list.push(['first call', after(some.least('first_ms')),
			date(one.start_ms + some.least('first_ms'))],
		['last call', after(some.most('last_ms')),
			date(one.start_ms + some.most('last_ms'))],
		['process', `${one.name} (pid ${one.pid})`]);
	else
		list.push(['processes', count(processes.length)]);
	list.push([sites.length === 1 ? 'site' : 'sites', sites.length > 12 ?
		count(sites.length) :
		Array.from(sites, (s) => model.figure('id', s)).join(', ')]);
	if (some.sum('samples') > 0)
		list.push(['samples', count(some.sum('samples'))]);
	if (state && state !== 'complete')
		list.push(['stack is', state.replaceAll('_', ' ')]);
	if (suppression)
		list.push(['suppressed by', suppression]);
	return make('dl', 'facts', list.flatMap(([name, value, title]) => {
		const d = make('dd', '', value);

		if (title)
			d.title = title;
		return [make('dt', '', name), d];
	}));
}

/* Smallest, mean and largest request on a scale of powers of two. */
function scale(low, high, mean, meanLive) {
	const from = Math.floor(Math.log2(Math.max(low, 1)) - 0.5);
	const to = Math.ceil(Math.log2(Math.max(high, 1)) + 0.5);
	const at = (n) => 100 * (Math.log2(Math.max(n, 1)) - from) / (to - from);
	const box = make('div', 'scale');
	const range = make('div', 'range');

	box.setAttribute('aria-hidden', 'true'); // the text tells the same
	range.style.left = `${at(low)}%`;
	range.style.width = `${Math.max(at(high) - at(low), 0.6)}%`;
	box.append(range);
	for (const [value, name] of [[mean, 'mean'], [meanLive, 'live']]) {
		if (value > 0) {
			const tick = make('div', `tick ${name}`);

			tick.style.left = `${at(value)}%`;
			tick.title = name;
			box.append(tick);
		}
	}
	return box;
}

/* Sizes of blocks: the range of all blocks, and a histogram of the live ones. */
function sizes(some) {
	const low = some.least('size_min');
	const high = some.most('size_max');
	const blocks = some.sum('allocations');
	const mean = blocks > 0 ? some.sum('allocated_bytes') / blocks : 0;
	const live = some.sum('live_blocks');
	const meanLive = live > 0 ? some.sum('live_bytes') / live : 0;
	const box = make('section', 'sizes', [make('h4', '', 'Block sizes')]);
	const isKnown = some.most('sizes_known') > 0;
	const text = high === 0 && low === 0 ?
		mean > 0 ? `mean ${count(Math.round(mean))} bytes; the range is not known` :
			'not known' :
		low === high ? `all ${count(low)} bytes` :
			`${count(low)} to ${count(high)} bytes, mean ${count(Math.round(mean))}` +
			(meanLive > 0 && Math.round(meanLive) !== Math.round(mean) ?
				`, mean of live blocks ${count(Math.round(meanLive))}` : '');

	box.append(make('p', 'soft', text));
	if (high > low && isKnown)
		box.append(sizeTable(some), ofWhich(some, live));
	else if (high > low)
		box.append(scale(low, high, mean, meanLive), make('p', 'soft', live > 0 ?
			'The number of blocks of each size is known only after a normal exit.' :
			'Sizes are counted only for live blocks, and no block is live.'));
	return box;
}

function sizeTable(some) {
	const living = some.classes('size', 'class');
	const all = [...living.keys()];

	return histogram('Sizes of live blocks, in bytes', 'bytes',
		range(Math.min(...all), Math.max(...all)), (i) => sizeLabel(i, SIZES - 1),
		[['still live', living, 'living']]);
}

// The process goes on allocating after it has counted its live blocks.
function ofWhich(some, live) {
	let counted = 0;

	for (const n of some.classes('size', 'class').values())
		counted += n;
	if (counted === live)
		return '';
	return make('p', 'soft', `These are ${count(counted)} ` +
		`${some.sum('samples') > 0 ? 'sampled ' : ''}blocks, counted at another ` +
		`moment than the ${count(live)} live blocks.`);
}

// Freed blocks by age. If all sites know the steps of the first class, the steps
// replace it.
function deaths(some) {
	const dead = some.classes('death', 'age');

	if (some.least('steps_known') > 0 && dead.delete(0))
		for (const [i, n] of some.classes('young', 'step'))
			dead.set(i - STEPS, n);
	return dead;
}

/* Ages of freed blocks when they were freed, and of live blocks. */
function ages(some) {
	const dead = deaths(some);
	const living = some.classes('living', 'age');
	const known = some.most('ages_known') > 0;
	const box = make('section', 'ages', [make('h4', '', 'Ages')]);
	const all = [...dead.keys(), ...living.keys()];
	const columns = dead.size > 0 ? [['freed', dead, 'dead']] : [];

	if (all.length === 0) {
		box.append(make('p', 'soft', 'no block was freed' +
			(known ? '' : '; ages of live blocks are known only after a normal exit')));
		return box;
	}
	if (known)
		columns.push(['still live', living, 'living']);
	const first = Math.min(...all) < 0 ? -STEPS : 0;
	const rows = range(first, Math.max(...all))
		.filter((i) => i !== 0 || first === 0 || living.has(0));

	box.append(histogram('Blocks by age', 'age', rows,
		(i) => ageLabel(i, AGES - 1), columns));
	if (!known && some.sum('live_blocks') > 0)
		box.append(make('p', 'soft',
			'Ages of live blocks are known only after a normal exit.'));
	return box;
}

// How long ago `share` of all blocks were allocated, in slots.
function slotsSince(slots, share) {
	const all = [...slots.values()].reduce((a, b) => a + b, 0);
	let n = 0;
	let i = SLOTS;

	while (i > 0 && n < all * share)
		n += slots.get(--i) ?? 0;
	return SLOTS - i;
}

/* When live blocks were allocated, from the start of their process on. */
function births(some) {
	const one = some.processes.length === 1 ? some.processes[0] : null;
	const slots = some.classes('birth', 'slot');
	const us = (one?.births_ms ?? 0) * 1000;
	const all = [...slots.values()].reduce((a, b) => a + b, 0);
	const rows = new Map();

	if (all < 3 || us < 1e6)
		return '';
	for (const [slot, n] of slots) {
		const row = Math.floor(slot * BIRTH_ROWS / SLOTS);

		rows.set(row, (rows.get(row) ?? 0) + n);
	}
	const at = (row) => time(us * row / BIRTH_ROWS);
	const since = (share) => time(us * slotsSince(slots, share) / SLOTS);

	return make('section', 'births', [
		make('h4', '', 'When live blocks were allocated'),
		make('p', 'soft', `Half were allocated in the last ${since(0.5)}, nine ` +
			`tenths in the last ${since(0.9)}, of ${time(us)}.`),
		histogram('Live blocks by time of allocation', 'after the start',
			range(0, BIRTH_ROWS - 1), (i) => `${at(i)} \u2013 ${at(i + 1)}`,
			[['still live', rows, 'living']])]);
}

/* A row for each class; columns: [title, class -> blocks, style]. */
function histogram(caption, head, classes, label, columns) {
	const table = make('table', 'histogram', [make('caption', 'off-screen', caption)]);
	const most = Math.max(...columns.flatMap((c) => [...c[1].values()]));
	const scoped = (text, scope) => {
		const e = make('th', '', text);

		e.scope = scope;
		return e;
	};

	table.append(make('thead', '', [make('tr', '', [scoped(head, 'col'),
		...columns.map(([title]) => scoped(title, 'col'))])]));
	for (const i of classes)
		table.append(make('tr', '', [scoped(label(i), 'row'),
			...columns.map(([, blocks, style]) =>
				histogramCell(blocks.get(i) ?? 0, most, style))]));
	return table;
}

function histogramCell(n, most, name) {
	const cell = make('td', '');
	const fill = make('div', `bar ${name}`);

	fill.style.width = `${n > 0 ? Math.max(1.5, 70 * n / most) : 0}%`;
	cell.append(fill, make('span', '', n > 0 ? count(n) : ''));
	return cell;
}

// Live bytes of sites at the moments of their recording.
function courseOf(model, some) {
	const number = some.processes[0].input;
	const recording = model.head.inputs[number].recording;
	const c = model.columns;

	if (!recording || recording.moments < 2 || some.processes[0].snapshot)
		return null;
	const added = new Float64Array(recording.moments + 1);
	const wanted = new Set(some.sites);
	let at = 0;

	for (let i = 0; i < number; i++)
		at += model.head.inputs[i].recording?.changes ?? 0;
	for (const end = at + recording.changes; at < end; at++)
		if (wanted.has(c['change.site'][at]))
			added[c['change.moment'][at] + 1] +=
				c['change.allocated_bytes'][at] - c['change.freed_bytes'][at];
	for (let i = 1; i < added.length; i++)
		added[i] += added[i - 1];
	return { values: added, until: recording.until_us };
}

function spark(model, some) {
	const course = courseOf(model, some);

	if (!course)
		return null;
	const box = make('section', 'course', [make('h4', '', 'Live bytes over time')]);
	const canvas = make('canvas', '');
	const most = Math.max(...course.values);

	canvas.setAttribute('role', 'img');
	canvas.setAttribute('aria-label', `at most ${bytes(most)}`);
	box.append(canvas, make('p', 'soft ends', [make('span', '', '0'),
		make('span', '', `highest ${bytes(most)}`),
		make('span', '', time(course.until))]));
	box.draw = () => drawSpark(canvas, course.values, most);
	return box;
}

function drawSpark(canvas, course, most) {
	const ratio = window.devicePixelRatio || 1;
	const w = canvas.clientWidth;
	const h = canvas.clientHeight;
	const c = canvas.getContext('2d');
	const p = colours();
	const x = (i) => i * w / (course.length - 1);
	const y = (v) => h - 1 - (most > 0 ? v / most : 0) * (h - 4);

	canvas.width = w * ratio;
	canvas.height = h * ratio;
	c.setTransform(ratio, 0, 0, ratio, 0, 0);
	c.beginPath();
	c.moveTo(0, y(course[0]));
	for (let i = 1; i < course.length; i++)
		c.lineTo(x(i), y(course[i]));
	c.strokeStyle = p.accent;
	c.lineWidth = 1.5;
	c.stroke();
	c.lineTo(w, h);
	c.lineTo(0, h);
	c.fillStyle = p.accentFill;
	c.fill();
}

function stack(model, site) {
	const list = make('ol', 'stack');

	for (const f of model.stackOf(site)) {
		const name = make('bdi', 'function', model.functionName(f));
		const item = make('li', model.isMissing(f) ? 'missing' : '', [name]);

		name.title = model.fullName(f);
		const place = model.place(f);
		const line = make('span', 'where');

		if (place) {
			const e = make('bdi', 'place', place);

			e.title = model.path(f);
			line.append(e);
		}
		if (!model.isMissing(f) && model.frame.module[f])
			line.append(make('bdi', 'module', model.moduleName(f)));
		if (model.isInlined(f))
			line.append(make('span', 'tag', 'inlined'));
		item.append(line);
		list.append(item);
	}
	return list;
}

// sites: those of a row; none: nothing is shown
export function show(box, model, sites, onclose) {
	if (sites.length === 0) {
		box.hidden = true;
		box.replaceChildren();
		return;
	}
	const some = new Some(model, sites);
	const f = model.headOf(some.site);
	const title = make('h3', '', [make('bdi', '', f < 0 ? '(no stack)' :
		model.functionName(f))]);
	const button = make('button', 'quiet', 'Copy stack');
	const close = make('button', 'quiet', '\u00d7');

	button.type = close.type = 'button';
	close.setAttribute('aria-label', 'Close');
	close.addEventListener('click', onclose);
	button.addEventListener('click', async () => {
		const done = await copy(stackText(model, some));

		button.textContent = done ? 'Copied' : 'Cannot copy';
		setTimeout(() => {
			button.textContent = 'Copy stack';
		}, 1500);
	});
	const course = spark(model, some);

	box.replaceChildren(...[
		make('header', '', [title, button, close]),
		figureRows(some),
		verdict(model, sites),
		score(model, sites),
		make('section', '', [make('h4', '', 'Stack, innermost first'),
			stack(model, some.site)]),
		course,
		sizes(some),
		ages(some),
		births(some),
		facts(model, some),
	].filter(Boolean));
	box.hidden = false;
	course?.draw(); // now that it has a width
}
