// figures.js - what is looked at: sites of some processes, maybe a difference.
// SPDX-License-Identifier: Apache-2.0
import { sum } from './verdict.js';

const METRICS = ['live', 'peak', 'allocated', 'temporary', 'older'];

// Ages of blocks are there if the command was asked for some: --older-than.
export function metricsOf(model) {
	return METRICS.filter((m) => m !== 'older' || model.head.older);
}

// metric and unit -> column of a site
const COLUMN = {
	live: { bytes: 'live_bytes', count: 'live_blocks' },
	peak: { bytes: 'peak_bytes', count: 'peak_blocks' },
	allocated: { bytes: 'allocated_bytes', count: 'allocations' },
	temporary: { bytes: 'temporary_bytes', count: 'temporary_blocks' },
	older: { bytes: 'older_bytes', count: 'older_blocks' },
};

// The sums of a site in a change of the time line, by sign.
const CHANGE = {
	live: { bytes: ['allocated_bytes', 'freed_bytes'],
		count: ['allocations', 'frees'] },
	allocated: { bytes: ['allocated_bytes'], count: ['allocations'] },
};

/*
 * rows: of sites that look the same, each named by its first site.
 * value(metric, unit): a number for each row, with a sign where isSigned; null
 * where the metric makes no sense.
 */
class Figures {
	constructor(model, isSigned) {
		this.model = model;
		this.isSigned = isSigned;
		this.first = [];
		this.numbers = new Map();
		this.cache = new Map();
	}

	// The rows of some sites, by a key of what makes them look the same.
	place(sites, keyOf) {
		const rows = new Int32Array(sites.length);

		for (let i = 0; i < sites.length; i++) {
			const key = keyOf(sites[i]);
			let row = this.numbers.get(key);

			if (row === undefined) {
				row = this.first.length;
				this.numbers.set(key, row);
				this.first.push(sites[i]);
			}
			rows[i] = row;
		}
		return rows;
	}

	get rows() {
		return this.first;
	}

	// All sites of a row that are looked at, not those to compare with.
	sitesOf(row) {
		const [sites, rows] = this.sides[0];

		return sites.filter((site, i) => rows[i] === row);
	}

	// What looks found in the sites of a row: {leak, possible}.
	verdictOf(row) {
		if (!this.found) {
			this.found = new Map();
			const [sites, rows] = this.sides[0];

			for (let i = 0; i < sites.length; i++)
				if (this.model.verdicts.has(sites[i]))
					this.found.set(rows[i],
						[...this.found.get(rows[i]) ?? [], sites[i]]);
			for (const [r, list] of this.found)
				this.found.set(r, sum(this.model, list));
		}
		return this.found.get(row) ?? {};
	}

	value(metric, unit) {
		const key = `${metric} ${unit}`;

		if (!this.cache.has(key))
			this.cache.set(key, this.compute(metric, unit));
		return this.cache.get(key);
	}

	total(metric, unit) {
		const values = this.value(metric, unit);
		let sum = 0;

		for (let i = 0; values && i < values.length; i++)
			sum += values[i];
		return values ? sum : null;
	}

	sum(column) {
		const sums = new Float64Array(this.first.length);

		for (const [sites, rows, sign] of this.sides)
			for (let i = 0; i < sites.length; i++)
				sums[rows[i]] += sign * column[sites[i]];
		return sums;
	}

	// Any other column of sites, by row.
	column(name) {
		const key = `column ${name}`;

		if (!this.cache.has(key))
			this.cache.set(key, this.sum(this.model.columns[`site.${name}`]));
		return this.cache.get(key);
	}

	compute(metric, unit) {
		// nobody notes the ages of what is in a program's own pools
		if (metric === 'older' && this.model.isUser[this.first[0]])
			return null;
		return this.sum(this.model.columns[`site.${COLUMN[metric][unit]}`]);
	}
}

/* Sites with the same stack and function of allocation are one row. */
function lookOf(model) {
	const { 'site.api': api, 'site.pool': pool } = model.columns;
	const texts = model.strings.length;

	return (site) => (model.siteStack[site] * texts + api[site]) * texts + pool[site];
}

class Plain extends Figures {
	constructor(model, sites, isSigned = false) {
		super(model, isSigned);
		this.sides = [[sites, this.place(sites, lookOf(model)), 1]];
	}
}

/* What was added between two moments of the time line. */
class Growth extends Plain {
	constructor(model, sites, spans) {
		super(model, sites, true);
		this.spans = spans; // {input, from, to}: numbers of moments
	}

	compute(metric, unit) {
		const parts = CHANGE[metric]?.[unit];

		if (!parts)
			return null;
		const c = this.model.columns;
		const plus = c[`change.${parts[0]}`];
		const minus = parts[1] ? c[`change.${parts[1]}`] : null;
		const added = new Float64Array(this.model.siteCount);
		let at = 0;

		this.model.head.inputs.forEach((input, number) => {
			const span = this.spans.find((s) => s.input === number);
			const end = at + (input.recording?.changes ?? 0);

			for (; at < end; at++) {
				const moment = c['change.moment'][at];

				if (span && moment >= span.from && moment < span.to)
					added[c['change.site'][at]] +=
						plus[at] - (minus ? minus[at] : 0);
			}
		});
		return this.sum(added);
	}
}

/* After less before, for stacks whose functions are the same. */
class Comparison extends Figures {
	constructor(model, after, before) {
		super(model, true);
		const keyOf = (site) => functionsOf(model, site);

		this.sides = [[after, this.place(after, keyOf), 1],
			[before, this.place(before, keyOf), -1]];
	}
}

function functionsOf(model, site) {
	const stack = model.siteStack[site];
	const labels = model.groups.function.of;
	let key = `${model.columns['site.pool'][site]} ${model.columns['site.api'][site]}`;

	for (let k = model.stackBegin[stack]; k < model.stackBegin[stack + 1]; k++)
		key += ` ${labels[model.stackFrames[k]].toString(36)}`;
	return key;
}

/* Sites of a choice of processes that the filters of the page let through. */
function sitesOf(model, processes, { user, suppressed }) {
	const suppression = model.columns['site.suppression'];
	const wanted = user ? 1 : 0;
	const list = new Int32Array(processes.reduce((n, p) => n + p.rows, 0));
	let n = 0;

	for (const p of processes)
		for (let i = p.first; i < p.first + p.rows; i++)
			if (model.isUser[i] === wanted && (suppressed || suppression[i] === 0))
				list[n++] = i;
	return list.subarray(0, n);
}

// The numbers of moments that a range of time touches, outward.
export function snap(recording, from_us, to_us) {
	const w = recording.width_us;
	const n = recording.moments;
	let from = Math.max(0, Math.min(n - 1, Math.floor(from_us / w + 1e-9)));
	let to = Math.max(1, Math.min(n, Math.ceil(to_us / w - 1e-9)));

	if (to <= from)
		to = from + 1;
	return { from, to,
		from_us: Math.min(from * w, recording.until_us),
		to_us: Math.min(to * w, recording.until_us) };
}

/*
 * processes: those looked at; before: those to compare with, or null; spans:
 * of the time line, or null.
 */
export function figures(model, { processes, before, spans, user, suppressed }) {
	const filter = { user, suppressed };
	const rows = sitesOf(model, processes, filter);

	if (before)
		return new Comparison(model, rows, sitesOf(model, before, filter));
	if (spans)
		return new Growth(model, rows, spans);
	return new Plain(model, rows);
}
