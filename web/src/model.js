// model.js - the data as the page looks at it: frames, stacks, sites.
// SPDX-License-Identifier: Apache-2.0
import { MAIN as PROGRAM, SYSTEM } from './colours.js';
import { base, clean } from './text.js';
import { scoresOf } from './score.js';
import { verdictsOf } from './verdict.js';

const SYSTEM_MODULE =
	/^(ld-linux|ld-musl|libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s|libc\+\+|libc\+\+abi)\b/;

export const INLINED = 1;
export const MISSING = 2;
const LIBRARY = 8;
const LIBC = 16;
export const MAIN = 4;

const ints = (column) => Int32Array.from(column);

// Numbers things by their key, from 0 on, in the order they come.
class Numbering {
	constructor() {
		this.map = new Map();
	}

	of(key) {
		let n = this.map.get(key);

		if (n === undefined) {
			n = this.map.size;
			this.map.set(key, n);
		}
		return n;
	}

	get size() {
		return this.map.size;
	}
}

// Each stack is stored as its difference from the one before: outermost frame first.
function unfold(shared, added, frames) {
	const n = shared.length;
	const begin = new Int32Array(n + 1);
	let total = 0;

	for (let i = 0; i < n; i++) {
		begin[i] = total;
		total += shared[i] + added[i];
	}
	begin[n] = total;
	const flat = new Int32Array(total);
	let at = 0;

	for (let i = 0; i < n; i++) {
		const to = begin[i];
		const keep = shared[i];

		if (keep > 0)
			flat.copyWithin(to, begin[i - 1], begin[i - 1] + keep);
		for (let k = 0; k < added[i]; k++)
			flat[to + keep + k] = frames[at++];
	}
	return { begin, flat };
}

export class Model {
	constructor({ head, columns }) {
		this.head = head;
		this.columns = columns;
		this.strings = head.strings.map(clean);
		this.#frames(columns);
		const { begin, flat } = unfold(columns['stack.shared'],
			columns['stack.added'], columns['stack.frames']);

		this.stackBegin = begin;
		this.stackFrames = flat;
		this.siteStack = ints(columns['site.stack']);
		this.#processes(head, columns);
		this.verdicts = verdictsOf(head);
		this.scores = scoresOf(head);
	}

	#frames(c) {
		const n = c['frame.function'].length;
		const functions = new Numbering();
		const modules = new Numbering();

		this.frameCount = n;
		this.frame = {
			function: ints(c['frame.function']),
			file: ints(c['frame.file']),
			line: ints(c['frame.line']),
			module: ints(c['frame.module']),
			offset: c['frame.offset'],
			flags: ints(c['frame.flags']),
			brief: ints(c['frame.brief']),
		};
		// what a frame is when frames are merged: itself, function, module
		this.groups = {
			line: { of: new Int32Array(n), first: [] },
			function: { of: new Int32Array(n), first: [] },
			module: { of: new Int32Array(n), first: [] },
		};
		for (let i = 0; i < n; i++) {
			const name = this.moduleName(i);
			const own = this.frame.function[i] || this.frame.offset[i];

			this.groups.line.of[i] = i;
			this.groups.function.of[i] =
				functions.of(`${this.frame.function[i] ? 'f' : 'o'}${own} ${name}`);
			this.groups.module.of[i] =
				modules.of(this.isMissing(i) ? this.functionName(i) : name);
		}
		for (const g of Object.values(this.groups)) {
			g.size = 0;
			for (let i = 0; i < n; i++)
				if (g.first[g.of[i]] === undefined) {
					g.first[g.of[i]] = i;
					g.size++;
				}
		}
	}

	#processes(head, c) {
		let row = 0;
		let point = 0;

		this.processes = head.processes.map((p, number) => {
			const x = { ...p, number, first: row, firstPoint: point };

			x.name = clean(p.program) || '(unknown)';
			row += p.rows;
			point += p.points;
			return x;
		});
		this.siteProcess = new Int32Array(row);
		for (const p of this.processes)
			this.siteProcess.fill(p.number, p.first, p.first + p.rows);
		this.siteCount = row;
		this.hasSuppressed = c['site.suppression'].some((n) => n > 0);
		this.isUser = new Uint8Array(row);
		for (let i = 0; i < row; i++)
			this.isUser[i] = this.strings[c['site.kind'][i]] === 'user' ? 1 : 0;
	}

	/*
	 * How frames are merged: line, function or module. of: frame -> group;
	 * first: group -> a frame; keys and begin: the stacks as groups, where
	 * neighbours of one module are one.
	 */
	group(name) {
		const g = this.groups[name];

		if (g.keys)
			return g;
		const n = this.stackBegin.length - 1;
		const keys = new Int32Array(this.stackFrames.length);
		const begin = name === 'module' ? new Int32Array(n + 1) : this.stackBegin;
		let at = 0;

		for (let i = 0; i < n; i++) {
			const from = at;

			for (let k = this.stackBegin[i]; k < this.stackBegin[i + 1]; k++) {
				const key = g.of[this.stackFrames[k]];

				if (name !== 'module' || at === from || keys[at - 1] !== key)
					keys[at++] = key;
			}
			if (name === 'module')
				begin[i + 1] = at;
		}
		g.keys = keys.subarray(0, at);
		g.begin = begin;
		return g;
	}

	// For colours: the program, the system, or the number of a library.
	moduleKind(f) {
		const g = this.groups.module;

		if (!this.moduleKinds) {
			let n = 0;

			this.moduleKinds = g.first.map((x) => {
				if (this.frame.flags[x] & MAIN)
					return PROGRAM;
				return SYSTEM_MODULE.test(this.moduleName(x)) ||
					!this.frame.module[x] ? SYSTEM : n++;
			});
		}
		return this.moduleKinds[g.of[f]];
	}

	isMissing(f) {
		return (this.frame.flags[f] & MISSING) !== 0;
	}

	isInlined(f) {
		return (this.frame.flags[f] & INLINED) !== 0;
	}

	moduleName(f) {
		return base(this.strings[this.frame.module[f]]);
	}

	// The function without its arguments, or module+offset where it has no name.
	functionName(f) {
		return this.#name(f, this.frame.brief[f]);
	}

	fullName(f) {
		return this.#name(f, this.frame.function[f]);
	}

	#name(f, name) {
		if (name)
			return this.strings[name];
		const offset = `0x${this.frame.offset[f].toString(16)}`;

		return this.frame.module[f] ? `${this.moduleName(f)}+${offset}` : offset;
	}

	// file.c:12, or nothing
	place(f) {
		const file = this.frame.file[f];

		if (!file || !this.frame.line[f])
			return '';
		return `${base(this.strings[file])}:${this.frame.line[f]}`;
	}

	path(f) {
		const file = this.frame.file[f];

		if (!file)
			return '';
		return this.strings[file] + (this.frame.line[f] ? `:${this.frame.line[f]}` : '');
	}

	// Frames of a site, innermost first.
	stackOf(site) {
		const stack = this.siteStack[site];

		return this.stackFrames.slice(
			this.stackBegin[stack], this.stackBegin[stack + 1]).reverse();
	}

	// The position in it of the innermost frame that is the user's own.
	ownOf(stack) {
		const flags = this.frame.flags;
		const own = stack.findIndex((f) => !(flags[f] & (LIBRARY | LIBC | MISSING)));
		const near = stack.findIndex((f) => flags[f] & LIBRARY);

		return Math.max(own >= 0 ? own : near, 0);
	}

	// The frame that heads a site; -1: it has none.
	// What short-lived means in this page.
	get temporaryTitle() {
		const ms = this.head.temporary_within_ms;

		return ms === null ? 'ages of freed blocks were not recorded' :
			`freed within ${ms / 1000} seconds`;
	}

	headOf(site) {
		const stack = this.stackOf(site);

		return stack.length > 0 ? stack[this.ownOf(stack)] : -1;
	}

	word(column, site) {
		return this.strings[this.columns[`site.${column}`][site]];
	}

	figure(name, site) {
		return this.columns[`site.${name}`][site];
	}

	/*
	 * [class, count] pairs of a site: `what` is death or living, by age; size,
	 * by class; or birth, by slot.
	 */
	classes(what, by, site) {
		const sites = this.columns[`${what}.site`];
		const pairs = [];
		let low = 0;
		let high = sites.length;

		while (low < high) {
			const middle = (low + high) >> 1;

			if (sites[middle] < site)
				low = middle + 1;
			else
				high = middle;
		}
		for (; low < sites.length && sites[low] === site; low++)
			pairs.push([this.columns[`${what}.${by}`][low],
				this.columns[`${what}.count`][low]]);
		return pairs;
	}

	// Which frames have a function, file or module that matches.
	matchFrames(test) {
		const known = new Map();
		const matches = (text) => {
			let answer = known.get(text);

			if (answer === undefined)
				known.set(text, answer = test(text));
			return answer;
		};
		const result = new Uint8Array(this.frameCount);

		for (let f = 0; f < this.frameCount; f++)
			result[f] = matches(this.functionName(f)) ||
				matches(this.fullName(f)) ||
				(this.frame.file[f] && matches(this.path(f))) ||
				(this.frame.module[f] &&
					matches(this.strings[this.frame.module[f]])) ? 1 : 0;
		return result;
	}

	// Which stacks have such a frame.
	matchStacks(frames) {
		const n = this.stackBegin.length - 1;
		const result = new Uint8Array(n);

		for (let i = 0; i < n; i++)
			for (let k = this.stackBegin[i]; k < this.stackBegin[i + 1]; k++)
				if (frames[this.stackFrames[k]]) {
					result[i] = 1;
					break;
				}
		return result;
	}
}
