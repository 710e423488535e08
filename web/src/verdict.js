// verdict.js - what looks found: which sites are lost, and how that is known.
// SPDX-License-Identifier: Apache-2.0
import { make } from './dom.js';
import { bytes, clean, count, plural, time } from './text.js';

const LEAK = 'leak';
const POSSIBLE = 'possible';
const RANK = 2 ** 52; // in a column every leak is above what is possible

// Sites of the page that have a verdict: number -> {leak, possible}
export function verdictsOf(head) {
	return new Map((head.verdicts ?? []).filter(({ verdict }) =>
		verdict.basis === 'unreachable').map(({ row, verdict }) =>
		[row, { [verdict.class]: verdict,
			...(verdict.also ? { [verdict.also.class]: verdict.also } : {}) }]));
}

function add(to, from) {
	if (!to)
		return { ...from };
	for (const key of ['blocks', 'bytes', 'direct_blocks', 'direct_bytes',
		'indirect_blocks', 'indirect_bytes', 'cycle_blocks', 'cycle_bytes',
		'held_again', 'freed_late'])
		to[key] += from[key];
	to.notes = [...new Set([...to.notes, ...from.notes])];
	to.looks = Math.min(to.looks, from.looks);
	to.type ??= from.type;
	to.rate = to.rate_low = to.rate_high = null; // of one site alone
	to.first_birth = to.first_birth < from.first_birth ? to.first_birth : from.first_birth;
	to.last_birth = to.last_birth > from.last_birth ? to.last_birth : from.last_birth;
	return to;
}

// {leak, possible} of some sites together
export function sum(model, sites) {
	const all = {};

	for (const site of sites) {
		const v = model.verdicts.get(site);

		for (const c of [LEAK, POSSIBLE])
			if (v?.[c])
				all[c] = add(all[c], v[c]);
	}
	return all;
}

// A column of the table; sums: row -> sum()
export function column(sums) {
	return { key: 'verdict', label: 'verdict', css: 'verdict',
		title: 'bytes that nothing points to, and that nothing certain points to',
		of: (r) => sums(r).leak ? RANK + Math.min(sums(r).leak.bytes, RANK - 1) :
			Math.min(sums(r).possible?.bytes ?? 0, RANK - 1),
		text: (v) => v >= RANK ? `LEAK ${bytes(v - RANK)}` :
			v > 0 ? `possible ${bytes(v)}` : '' };
}

// What the filter of the table lets through.
export function passes(filter, found) {
	return filter === '' || Boolean(found.leak) ||
		(filter === POSSIBLE && Boolean(found.possible));
}

function rate(v) {
	return v.rate === null || v.rate === undefined ? null :
		`${bytes(v.rate)}/h (${bytes(v.rate_low)} to ${bytes(v.rate_high)})`;
}

function facts(model, name, v) {
	const notes = v.notes.map((n) => model.head.verdict_notes[n] ?? clean(n));
	const list = [
		[name, `${plural(v.blocks, 'block')}, ${bytes(v.bytes)}`],
		['how it is known', [...name === 'LEAK' ? ['nothing points to them'] : [],
			...notes].join('; ')],
		['looks', count(v.looks)],
		['lost by themselves', v.indirect_blocks > 0 ?
			`${plural(v.direct_blocks, 'block')}, ${bytes(v.direct_bytes)}` : null],
		['held only by lost blocks', v.indirect_blocks > 0 ?
			`${plural(v.indirect_blocks, 'block')}, ${bytes(v.indirect_bytes)}` : null],
		['in cycles', v.cycle_blocks > 0 ?
			`${plural(v.cycle_blocks, 'block')}, ${bytes(v.cycle_bytes)}` : null],
		['type', v.type ? clean(v.type) : null],
		['lost in an hour', rate(v)],
		['born', born(v)],
		['others are freed by', v.freed_by.map((f) =>
			`${clean(f.function ?? f.module ?? '?')} (${Math.round(100 * f.share)} %)`)
			.join(', ') || null],
	].filter(([, text]) => text);

	return make('dl', 'facts', list.flatMap(([label, text]) =>
		[make('dt', '', label), make('dd', '', text)]));
}

function born(v) {
	const first = Date.parse(v.first_birth);
	const last = Date.parse(v.last_birth);

	if (Number.isNaN(first) || Number.isNaN(last))
		return null;
	return last - first < 1000 ? v.first_birth :
		`${v.first_birth}, the last ${time((last - first) * 1000)} later`;
}

// The evidence, for the panel of a row; null: there is none.
export function section(model, sites) {
	const all = sum(model, sites);
	const parts = [['LEAK', all.leak], ['POSSIBLE', all.possible]]
		.filter(([, v]) => v);

	return parts.length === 0 ? null : make('section', 'verdict', [
		make('h4', '', 'Verdict'), ...parts.map(([name, v]) => facts(model, name, v))]);
}

// The sentences above all else: of each process that was looked at.
export function paragraphs(processes) {
	const told = processes.filter((p) => p.verdict);
	const found = told.filter((p) => p.leaks.judged &&
		p.leaks.leak.blocks + p.leaks.possible.blocks > 0);
	const without = told.filter((p) => p.leaks.judged && !found.includes(p));
	const unjudged = told.filter((p) => !p.leaks.judged);

	if (told.length <= 1)
		return told.map((p) => paragraph(p, p.verdict));
	return [...found.map((p) => paragraph(p, p.verdict)),
		...without.length > 0 ? [make('p', 'verdict none',
			`No leak in ${names(without)}.`)] : [],
		...unjudged.map((p) => paragraph(p, p.verdict))];
}

function paragraph(p, text) {
	const kind = !p.leaks.judged ? 'unjudged' : p.leaks.leak.blocks > 0 ? LEAK :
		p.leaks.possible.blocks > 0 ? POSSIBLE : 'none';

	return make('p', `verdict ${kind}`, clean(text));
}

function names(processes) {
	const most = 10;
	const list = processes.slice(0, most).map((p) => `${p.name} (pid ${p.pid})`);

	if (processes.length > most)
		list.push(`${count(processes.length - most)} more`);
	return list.join(', ');
}
