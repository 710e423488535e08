// tree.js - the call tree of some rows, opened node by node as it is needed.
// SPDX-License-Identifier: Apache-2.0
/*
 * A node is a stretch of `order`, the numbers of the rows; its children are
 * parts of that stretch, put in order when they are first asked for. So what
 * is never drawn costs nothing, and a hundred thousand stacks open at once.
 */

export const ROOT = 0;

class Ints {
	constructor(type = Int32Array) {
		this.list = new type(1024);
		this.length = 0;
	}

	push(value) {
		if (this.length === this.list.length) {
			const bigger = new this.list.constructor(2 * this.length);

			bigger.set(this.list);
			this.list = bigger;
		}
		this.list[this.length++] = value;
	}
}

export class Tree {
	// group: of model.group(); inverted: from the allocating function to main
	constructor(model, figures, values, group, inverted) {
		this.model = model;
		this.figures = figures;
		this.values = values;
		this.group = group;
		this.inverted = inverted;
		this.begin = new Ints();
		this.end = new Ints();
		this.key = new Ints(); // number in the group; -1: the root
		this.parent = new Ints();
		this.depth = new Ints();
		this.children = new Ints(); // number of the first; -1: not opened
		this.childCount = new Ints();
		this.value = new Ints(Float64Array); // |change|, summed
		this.net = new Ints(Float64Array);
		this.#start();
	}

	#start() {
		const rows = this.figures.rows; // a site of each
		const order = new Int32Array(rows.length);
		let n = 0;
		let sum = 0;
		let net = 0;

		this.stack = new Int32Array(rows.length);
		for (let i = 0; i < rows.length; i++) {
			this.stack[i] = this.model.siteStack[rows[i]];
			if (this.values[i] !== 0) {
				order[n++] = i;
				sum += Math.abs(this.values[i]);
				net += this.values[i];
			}
		}
		this.order = order.subarray(0, n);
		this.spare = new Int32Array(n);
		this.slot = new Int32Array(this.group.size).fill(-1);
		this.#add(0, n, -1, -1, 0, sum, net);
	}

	#add(begin, end, key, parent, depth, value, net) {
		this.begin.push(begin);
		this.end.push(end);
		this.key.push(key);
		this.parent.push(parent);
		this.depth.push(depth);
		this.children.push(-1);
		this.childCount.push(0);
		this.value.push(value);
		this.net.push(net);
		return this.begin.length - 1;
	}

	// The group of the frame below depth, or -1 where the stack ends.
	#keyAt(row, depth) {
		const stack = this.stack[row];
		const from = this.group.begin[stack];
		const to = this.group.begin[stack + 1];

		if (depth >= to - from)
			return -1;
		return this.group.keys[this.inverted ? to - 1 - depth : from + depth];
	}

	open(node) {
		if (this.children.list[node] >= 0)
			return;
		const begin = this.begin.list[node];
		const end = this.end.list[node];
		const depth = this.depth.list[node];
		const parts = this.#count(begin, end, depth);

		parts.sort((a, b) => b.value - a.value || a.key - b.key);
		this.#arrange(begin, end, depth, parts);
		this.children.list[node] = this.begin.length;
		this.childCount.list[node] = parts.length;
		for (const p of parts)
			this.#add(p.begin, p.begin + p.count, p.key, node, depth + 1,
				p.value, p.net);
	}

	#count(begin, end, depth) {
		const parts = [];

		for (let i = begin; i < end; i++) {
			const row = this.order[i];
			const key = this.#keyAt(row, depth);

			if (key < 0)
				continue;
			let p = parts[this.slot[key]];

			if (!p || p.key !== key) {
				this.slot[key] = parts.length;
				p = { key, begin: 0, count: 0, value: 0, net: 0 };
				parts.push(p);
			}
			p.count++;
			p.value += Math.abs(this.values[row]);
			p.net += this.values[row];
		}
		return parts;
	}

	// Rows that end here stay at the end of the stretch.
	#arrange(begin, end, depth, parts) {
		let at = begin;
		let rest;

		parts.forEach((p, i) => {
			p.begin = at;
			this.slot[p.key] = i;
			at += p.count;
		});
		rest = at;
		if (parts.length === 0 || (parts.length === 1 && rest === end))
			return;
		const next = parts.map((p) => p.begin);

		for (let i = begin; i < end; i++) {
			const row = this.order[i];
			const key = this.#keyAt(row, depth);

			this.spare[key < 0 ? rest++ : next[this.slot[key]]++] = row;
		}
		this.order.set(this.spare.subarray(begin, end), begin);
	}

	childrenOf(node) {
		this.open(node);
		return [this.children.list[node], this.childCount.list[node]];
	}

	// The frame that stands for a node.
	frameOf(node) {
		return node === ROOT ? -1 : this.group.first[this.key.list[node]];
	}

	// Keys from the root on: the way to a node in another tree like this.
	pathOf(node) {
		const path = [];

		for (; node > ROOT; node = this.parent.list[node])
			path.push(this.key.list[node]);
		return path.reverse();
	}

	// As far along a path as this tree goes.
	find(path) {
		let node = ROOT;

		for (const key of path) {
			const [first, n] = this.childrenOf(node);
			let next = -1;

			for (let i = first; i < first + n && next < 0; i++)
				if (this.key.list[i] === key)
					next = i;
			if (next < 0)
				break;
			node = next;
		}
		return node;
	}

	rowsOf(node) {
		return this.order.subarray(this.begin.list[node], this.end.list[node]);
	}
}
