// score.js - what leaks, grows or is steady by the ages of its blocks.
// SPDX-License-Identifier: Apache-2.0
import { make } from './dom.js';
import { bytes, clean, count, date, plural, time } from './text.js';

// Sites of the page that have a score: number -> verdict
export function scoresOf(head) {
	return new Map((head.verdicts ?? []).filter(({ verdict }) =>
		verdict.basis !== 'unreachable').map(({ row, verdict }) => [row, verdict]));
}

// 2026-11-16 14:20:00, 3 min 2 s after mark `deploy-7`; null: with the process
function began(v) {
	const near = v.began_near;

	if (!v.began && !near)
		return null;
	return [v.began ? date(Date.parse(v.began)) : null, near ?
		`${time(Math.abs(near.after_s) * 1e6)} ${near.after_s < 0 ? 'before' : 'after'} ` +
		`${near.kind} \`${clean(near.label)}\`` :
		`${time(v.began_s * 1e6)} after the start`].filter((text) => text).join(', ');
}

function facts(v) {
	const list = [
		[v.class.toUpperCase(), `${plural(v.blocks, 'block')}, ${bytes(v.bytes)}`],
		['in an hour', v.rate === null ? null :
			`${bytes(v.rate)} (${bytes(v.rate_low)} to ${bytes(v.rate_high)})`],
		['a leak by', v.class === 'growth' ? `${count(Math.round(100 * v.confidence))} %` : null],
		['began', began(v)],
		['siblings are freed by', v.freed_by.map((f) =>
			`${clean(f.function ?? f.module ?? '?')} (${Math.round(100 * f.share)} %)`)
			.join(', ') || null],
	].filter(([, text]) => text);

	return make('dl', 'facts', list.flatMap(([label, text]) =>
		[make('dt', '', label), make('dd', '', text)]));
}

// The evidence, for the panel of a row of one site; null: there is none.
export function section(model, sites) {
	const found = [...sites].map((s) => model.scores.get(s)).filter((v) => v);

	return found.length === 0 || found.length > 5 ? null : make('section', 'verdict', [
		make('h4', '', 'By the ages of its blocks'), ...found.map((v) => facts(v))]);
}

// The lines of a report, of each process that was seen for long enough.
export function scores(processes) {
	return processes.filter((p) => p.scores).map((p) => make('pre', 'scores',
		(processes.length > 1 ? `${p.name} (pid ${p.pid}):\n` : '') +
		p.scores.split('\n').map((line) => clean(line)).join('\n').trimEnd()));
}
