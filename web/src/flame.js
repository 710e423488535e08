// flame.js - the flame graph: a canvas that draws what can be seen of a tree.
// SPDX-License-Identifier: Apache-2.0
import { ROOT, Tree } from './tree.js';
import { colours } from './colours.js';

const MIN_WIDTH = 0.7; // less is not drawn
const MIN_LABEL = 28;

/*
 * Events: onzoom(node), onhover(node or -1). The canvas is as high as its
 * frame; what is above or below is reached by scrolling.
 */
export class Flame {
	constructor(frame, hooks) {
		this.frame = frame;
		this.hooks = hooks;
		this.canvas = frame.querySelector('canvas');
		this.spacer = frame.querySelector('.flame-spacer');
		this.context = this.canvas.getContext('2d');
		this.zoomed = ROOT;
		this.hovered = -1;
		this.focused = -1;
		this.drawn = [];
		this.labels = new Map();
		this.#listen();
	}

	show(model, figures, values, group, inverted, path) {
		this.model = model;
		this.tree = new Tree(model, figures, values, group, inverted);
		this.isSigned = figures.isSigned;
		this.zoomed = this.tree.find(path);
		this.hovered = this.focused = -1;
		this.labels.clear();
		this.highest = 0;
		this.draw();
	}

	// frames: one byte each, or null
	search(frames) {
		this.matched = null;
		if (frames) {
			const of = this.tree.group.of;

			this.matched = new Uint8Array(this.tree.group.size);
			for (let f = 0; f < of.length; f++)
				if (frames[f])
					this.matched[of[f]] = 1;
		}
		this.draw();
	}

	zoom(node) {
		if (node === this.zoomed)
			return;
		this.zoomed = node;
		this.focused = node;
		this.hooks.onzoom(node);
		this.draw();
	}

	path() {
		return this.tree ? this.tree.pathOf(this.zoomed) : [];
	}

	label(node) {
		if (node === ROOT)
			return this.hooks.rootLabel();
		const frame = this.tree.frameOf(node);

		if (this.tree.group === this.model.groups.module)
			return this.model.isMissing(frame) ? this.model.functionName(frame) :
				this.model.moduleName(frame) || '(no module)';
		let text = this.model.functionName(frame);

		if (this.tree.group === this.model.groups.line) {
			const place = this.model.place(frame);

			text += place ? `  ${place}` : '';
		}
		return text;
	}

	// On paper there is no scrolling: all of it, as far as a page goes.
	print(width, height) {
		this.paper = { width, height };
		this.frame.scrollTop = 0;
		this.draw();
	}

	endPrint() {
		this.paper = null;
		this.draw();
	}

	draw() {
		if (!this.tree || this.frame.clientWidth === 0)
			return;
		const t0 = performance.now();
		const style = getComputedStyle(this.frame);

		this.rowHeight = parseFloat(style.getPropertyValue('--row')) || 20;
		this.#layout();
		this.#paint();
		this.lastDraw = performance.now() - t0;
	}

	/*
	 * All boxes wide enough to be seen, as [node, x, width] by depth. The way
	 * to the zoomed node is as wide as the canvas.
	 */
	#layout() {
		const width = this.paper?.width ?? this.frame.clientWidth;
		const tree = this.tree;
		const drawn = [];
		let level = [];

		for (let node = this.zoomed; node >= ROOT; node = tree.parent.list[node])
			level.unshift([node, 0, width]);
		for (const box of level)
			drawn.push([box]);
		level = drawn[drawn.length - 1];
		while (level.length > 0) {
			const next = [];

			for (const [node, x, w] of level)
				this.#children(node, x, w, next);
			if (next.length > 0)
				drawn.push(next);
			level = next;
		}
		this.drawn = drawn;
		this.zoomDepth = tree.depth.list[this.zoomed];
		this.spacer.style.height = `${drawn.length * this.rowHeight}px`;
		// zooming in must not make the page jump
		this.highest = Math.max(this.highest, drawn.length);
		this.frame.style.height = this.paper ? 'auto' :
			`${this.highest * this.rowHeight}px`;
	}

	#children(node, x, w, next) {
		const tree = this.tree;
		const scale = w / tree.value.list[node];
		const [first, n] = tree.childrenOf(node);

		for (let i = first; i < first + n; i++) {
			const wide = tree.value.list[i] * scale;

			if (wide < MIN_WIDTH)
				break; // sorted: the others are smaller
			next.push([i, x, wide]);
			x += wide;
		}
	}

	#paint() {
		const ratio = this.paper ? 3 : window.devicePixelRatio || 1;
		const width = this.paper?.width ?? this.frame.clientWidth;
		const height = this.paper ?
			Math.min(this.drawn.length * this.rowHeight, this.paper.height) :
			this.frame.clientHeight;
		const c = this.context;

		if (this.canvas.width !== Math.round(width * ratio) ||
			this.canvas.height !== Math.round(height * ratio)) {
			this.canvas.width = Math.round(width * ratio);
			this.canvas.height = Math.round(height * ratio);
			this.canvas.style.width = `${width}px`;
			this.canvas.style.height = `${height}px`;
		}
		this.palette = colours();
		c.setTransform(ratio, 0, 0, ratio, 0, 0);
		c.clearRect(0, 0, width, height);
		c.font = this.palette.font;
		c.textBaseline = 'middle';
		c.direction = 'ltr';
		const top = this.frame.scrollTop;
		const from = Math.max(0, Math.floor(top / this.rowHeight));
		const to = Math.min(this.drawn.length,
			Math.ceil((top + height) / this.rowHeight));

		for (let depth = from; depth < to; depth++)
			for (const box of this.drawn[depth])
				this.#box(box, depth, depth * this.rowHeight - top);
		this.#outline(this.focused, this.palette.focus, top);
		this.#outline(this.hovered, this.palette.ink, top);
	}

	#box([node, x, w], depth, y) {
		const c = this.context;
		const p = this.palette;
		const gap = w > 3 ? 1 : 0;
		const isWay = depth < this.zoomDepth;

		c.globalAlpha = isWay ? 0.5 : 1;
		c.fillStyle = this.#colour(node);
		c.fillRect(x, y, Math.max(w - gap, 0.5), this.rowHeight - 1);
		c.globalAlpha = 1;
		if (w < MIN_LABEL)
			return;
		c.fillStyle = node === ROOT ? p.rootInk : p.boxInk;
		if (this.matched && node !== ROOT && !this.matched[this.tree.key.list[node]])
			c.fillStyle = p.dimInk;
		const text = this.#fit(this.label(node), w - 10);

		if (text)
			c.fillText(text, x + 5, y + (this.rowHeight - 1) / 2 + 0.5);
	}

	#colour(node) {
		const p = this.palette;

		if (node === ROOT)
			return p.root;
		const key = this.tree.key.list[node];

		if (this.matched)
			return this.matched[key] ? p.match : p.noMatch;
		if (this.isSigned) {
			const value = this.tree.value.list[node];

			return p.change(value > 0 ? this.tree.net.list[node] / value : 0);
		}
		const frame = this.tree.frameOf(node);

		if (this.model.isMissing(frame))
			return p.missing;
		return p.module(this.model.moduleKind(frame), key);
	}

	// As much of a text as there is room for.
	#fit(text, room) {
		const c = this.context;
		const wide = this.#width(text);

		if (wide <= room)
			return text;
		let n = Math.floor(text.length * room / wide);

		while (n > 2 && c.measureText(`${text.slice(0, n)}\u2026`).width > room)
			n--;
		return n > 2 ? `${text.slice(0, n)}\u2026` : '';
	}

	#width(text) {
		let width = this.labels.get(text);

		if (width === undefined) {
			width = this.context.measureText(text).width;
			this.labels.set(text, width);
		}
		return width;
	}

	#boxOf(node) {
		if (node < 0)
			return null;
		const depth = this.tree.depth.list[node];
		const box = this.drawn[depth]?.find((b) => b[0] === node);

		return box ? { x: box[1], w: box[2], depth } : null;
	}

	#outline(node, colour, top) {
		const box = this.#boxOf(node);

		if (!box)
			return;
		const c = this.context;

		c.strokeStyle = colour;
		c.lineWidth = 1.5;
		c.strokeRect(box.x + 0.75, box.depth * this.rowHeight - top + 0.75,
			Math.max(box.w - 2.5, 1), this.rowHeight - 2.5);
	}

	#at(event) {
		const area = this.frame.getBoundingClientRect();
		const x = event.clientX - area.left;
		const y = event.clientY - area.top + this.frame.scrollTop;
		const level = this.drawn[Math.floor(y / this.rowHeight)];
		let low = 0;
		let high = level ? level.length - 1 : -1;

		while (low <= high) {
			const middle = (low + high) >> 1;
			const [node, left, wide] = level[middle];

			if (x < left)
				high = middle - 1;
			else if (x >= left + wide)
				low = middle + 1;
			else
				return node;
		}
		return -1;
	}

	#hover(node) {
		if (node === this.hovered)
			return;
		this.hovered = node;
		this.hooks.onhover(node >= 0 ? node : this.focused);
		this.#paint();
	}

	focus(node) {
		if (node < 0)
			return;
		this.focused = node;
		const depth = this.tree.depth.list[node];
		const y = depth * this.rowHeight;

		if (y < this.frame.scrollTop)
			this.frame.scrollTop = y;
		else if (y + this.rowHeight > this.frame.scrollTop + this.frame.clientHeight)
			this.frame.scrollTop = y + this.rowHeight - this.frame.clientHeight;
		this.hooks.onhover(node);
		this.#paint();
	}

	#listen() {
		const f = this.frame;

		f.addEventListener('scroll', () => this.tree && this.#paint());
		f.addEventListener('pointermove', (e) => {
			if (this.tree && e.pointerType !== 'touch')
				this.#hover(this.#at(e));
		});
		f.addEventListener('pointerleave', () => this.tree && this.#hover(-1));
		f.addEventListener('click', (e) => {
			const node = this.tree ? this.#at(e) : -1;

			// a finger has no hover: the first touch tells, the second zooms
			if (node >= 0 && e.pointerType === 'touch' && node !== this.focused)
				this.focus(node);
			else if (node >= 0)
				this.zoom(node);
		});
		f.addEventListener('keydown', (e) => this.tree && this.#key(e));
		new ResizeObserver(() => this.draw()).observe(f);
	}

	#key(e) {
		if (e.ctrlKey || e.metaKey || e.altKey)
			return;
		const tree = this.tree;
		const node = this.focused >= 0 ? this.focused : this.zoomed;
		const level = this.drawn[tree.depth.list[node]] ?? [];
		const at = level.findIndex((b) => b[0] === node);
		let to = -1;

		switch (e.key) {
		case 'ArrowUp':
			to = tree.parent.list[node];
			break;
		case 'ArrowDown':
			to = (this.drawn[tree.depth.list[node] + 1] ?? [])
				.find((b) => tree.parent.list[b[0]] === node)?.[0] ?? -1;
			break;
		case 'ArrowLeft':
			to = level[at - 1]?.[0] ?? -1;
			break;
		case 'ArrowRight':
			to = level[at + 1]?.[0] ?? -1;
			break;
		case 'Enter':
		case ' ':
			this.zoom(node);
			break;
		case 'Backspace':
			this.zoom(Math.max(ROOT, tree.parent.list[this.zoomed]));
			break;
		case 'Home':
			this.zoom(ROOT);
			break;
		default:
			return;
		}
		e.preventDefault();
		this.focus(to);
	}
}
