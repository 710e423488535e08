// served.js - a page of seep serve: new data again and again, and their course.
// SPDX-License-Identifier: Apache-2.0

const EVERY_MS = 5000;
const REST = 10; // times as long as a reply took
const MOMENTS = 240;
const RECORDS = 200000;
const SUMS = ['allocations', 'allocated_bytes', 'frees', 'freed_bytes'];

/*
 * A process that runs has no time line. What the page has seen since it was
 * opened becomes one, in the form of a recording: the first reading is the first
 * moment, so that a range behind it shows what was added since.
 */
export class Course {
	constructor() {
		this.width = EVERY_MS * 1000;
		this.start = 0; // ms since 1970
		this.last = new Map(); // key of a site -> its sums
		this.records = []; // [us, key, sums]
		this.points = new Map(); // uuid -> [us, live bytes, allocated bytes]
	}

	// Adds a reading and puts the whole course into it.
	add(data) {
		const now = Date.now();

		this.start ||= now - this.width / 1000;
		const us = (now - this.start) * 1000;
		const keys = keysOf(data);

		this.#note(data, keys, us);
		while (us / this.width > MOMENTS || this.records.length > RECORDS)
			this.#thin();
		this.#put(data, keys, us);
	}

	#note({ head, columns: c }, keys, us) {
		for (const [key, i] of keys) {
			const sums = SUMS.map((name) => c[`site.${name}`][i]);
			const was = this.last.get(key) ?? [0, 0, 0, 0];

			if (sums.every((n, k) => n === was[k]))
				continue;
			this.last.set(key, sums);
			this.records.push([us, key, sums.map((n, k) => n - was[k])]);
		}
		for (const p of head.processes) {
			const list = this.points.get(p.uuid) ?? [];

			list.push([us, p.totals.live_bytes, p.totals.allocated_bytes]);
			this.points.set(p.uuid, list);
		}
	}

	#moment(us) {
		return Math.max(0, Math.ceil(us / this.width) - 1);
	}

	// Moments of twice the width; changes of a site in the same one are added up.
	#thin() {
		const merged = new Map();

		this.width *= 2;
		for (const [us, key, sums] of this.records) {
			const at = `${this.#moment(us)} ${key}`;
			const known = merged.get(at);

			if (known)
				sums.forEach((n, k) => { known[2][k] += n; });
			else
				merged.set(at, [us, key, sums]);
		}
		this.records = [...merged.values()];
		for (const [uuid, list] of this.points)
			if (list.length > 2 * MOMENTS)
				this.points.set(uuid, list.filter((p, i) => i % 2 === 0));
	}

	#put({ head, columns: c }, keys, until) {
		const rows = this.records.filter(([, key]) => keys.has(key));
		const points = head.processes.flatMap((p) => this.points.get(p.uuid) ?? []);

		c['change.moment'] = Float64Array.from(rows, (r) => this.#moment(r[0]));
		c['change.site'] = Float64Array.from(rows, (r) => keys.get(r[1]));
		SUMS.forEach((name, k) => {
			c[`change.${name}`] = Float64Array.from(rows, (r) => r[2][k]);
		});
		['time_us', 'live_bytes', 'allocated_bytes'].forEach((name, k) => {
			c[`point.${name}`] = Float64Array.from(points, (p) => p[k]);
		});
		for (const p of head.processes)
			p.points = p.points_seen = this.points.get(p.uuid)?.length ?? 0;
		head.inputs[0].recording = {
			start_ms: this.start, until_us: until, marks: [], width_us: this.width,
			moments: this.#moment(until) + 1, changes: rows.length,
		};
	}
}

// Rows by what they are in every reading; merged rows are not the same twice.
function keysOf({ head, columns: c }) {
	const keys = new Map();
	let i = 0;

	for (const p of head.processes)
		for (const end = i + p.rows; i < end; i++)
			if (!c['site.merged'][i])
				keys.set(`${p.uuid} ${c['site.id'][i]}`, i);
	return keys;
}

/*
 * Asks `url` every five seconds, seldom if replies take long and not while
 * nobody sees the page. onnews(text) gets what came, onfailure(words) why
 * nothing did.
 */
export function poll(url, onnews, onfailure) {
	let timer = 0;

	const again = (ms) => {
		clearTimeout(timer);
		timer = setTimeout(ask, ms);
	};

	async function ask() {
		const begin = performance.now();

		if (document.hidden)
			return;
		try {
			const reply = await fetch(url, { cache: 'no-store' });
			const text = await reply.text();

			if (!reply.ok)
				throw new Error(text.trim() || `status ${reply.status}`);
			await onnews(text);
		} catch (error) {
			onfailure(error.message);
		}
		again(Math.max(EVERY_MS, REST * (performance.now() - begin)));
	}

	document.addEventListener('visibilitychange', () => {
		if (!document.hidden)
			again(0);
	});
	again(EVERY_MS);
}
