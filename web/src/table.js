// table.js - the sites as a table that holds only the rows in sight.
// SPDX-License-Identifier: Apache-2.0
import { make } from './dom.js';
import { columns as rssColumns, hasHolds } from './rss.js';
import { count, percent, signed } from './text.js';
import { column as verdictColumn } from './verdict.js';

const AHEAD = 8; // rows made above and below what is in sight
const CALLERS = 3;
const PRINTED = 40;

/*
 * view: {model, figures, metric, unit, rows, total}. Events: onsort(key),
 * onselect(row). `selected` is the first site of a row, or -1.
 */
export class Table {
	constructor(box, hooks) {
		this.hooks = hooks;
		this.box = box;
		this.head = box.querySelector('.head');
		this.scroller = box.querySelector('.scroller');
		this.body = box.querySelector('.rows');
		this.selected = -1;
		this.made = new Map();
		this.sort = { key: 'value', down: true };
		this.#listen();
	}

	show(view) {
		this.view = view;
		this.order = this.#sorted();
		this.rowHeight = parseFloat(
			getComputedStyle(this.box).getPropertyValue('--row')) || 26;
		this.#heads();
		this.#renew();
	}

	columns() {
		const { figures, metric, unit } = this.view;
		const own = (m, u) => figures.value(m, u);
		const sign = figures.isSigned;
		const main = own(metric, unit);
		const word = { live: 'live', peak: 'at peak', allocated: 'allocated',
			temporary: 'short-lived', older: 'old' }[metric];
		const list = [
			{ key: 'value', label: 'share', css: 'share', of: (r) => main[r] },
			{ key: 'bytes', label: `${word} bytes`, css: 'num wide',
				of: (r) => own(metric, 'bytes')[r] },
			{ key: 'blocks', css: 'num',
				label: metric === 'allocated' ? 'calls' : 'blocks',
				of: (r) => own(metric, 'count')[r] },
		];

		if (metric !== 'allocated')
			list.push({ key: 'allocated', label: 'allocated', css: 'num wide more',
				of: (r) => own('allocated', 'bytes')[r] },
			{ key: 'calls', label: 'calls', css: 'num more',
				of: (r) => own('allocated', 'count')[r] });
		else
			list.push({ key: 'live', label: 'live', css: 'num wide more',
				of: (r) => own('live', 'bytes')[r] },
			{ key: 'liveblocks', label: 'blocks', css: 'num more',
				of: (r) => own('live', 'count')[r] });
		if (!sign)
			list.push({ key: 'young', label: 'short-lived', css: 'num more',
				title: `${this.view.model.temporaryTitle}, of all allocations`,
				of: (r) => share(own('temporary', 'count')[r],
					own('allocated', 'count')[r]),
				text: (v) => v < 0 ? '' : percent(v, 1) },
			{ key: 'size', label: 'mean size', css: 'num more',
				of: (r) => mean(own('allocated', 'bytes')[r],
					own('allocated', 'count')[r]),
				text: (v) => v < 0 ? '' : count(Math.round(v)) });
		if (hasHolds(this.view.model))
			list.push(...rssColumns((name) => figures.column(name)));
		if (this.view.model.verdicts.size > 0 && !sign)
			list.push(verdictColumn((r) => figures.verdictOf(r)));
		list.push({ key: 'name', label: 'allocated in \u2190 called by', css: 'name',
			of: null });
		return list;
	}

	#sorted() {
		const { model, figures, rows } = this.view;
		const column = this.columns().find((c) => c.key === this.sort.key) ??
			this.columns()[0];
		const way = this.sort.down ? -1 : 1;
		const order = Int32Array.from(rows);

		if (column.key === 'name') {
			const names = new Map();

			for (const r of order) {
				const f = model.headOf(figures.rows[r]);

				names.set(r, f < 0 ? '' : model.functionName(f));
			}
			return order.sort((a, b) => way * (names.get(a) > names.get(b) ? 1 :
				names.get(a) < names.get(b) ? -1 : 0) || a - b);
		}
		const values = new Float64Array(figures.rows.length);

		// of a difference the largest change, whichever way
		for (const r of order)
			values[r] = figures.isSigned ? Math.abs(column.of(r)) : column.of(r);
		return order.sort((a, b) => way * (values[a] - values[b]) || a - b);
	}

	#heads() {
		this.head.replaceChildren(...this.columns().map((c) => {
			const cell = make('div', `cell ${c.css}`);
			const b = make('button', '', c.label);
			const isSorted = c.key === this.sort.key;

			b.type = 'button';
			cell.setAttribute('role', 'columnheader');
			cell.setAttribute('aria-sort', !isSorted ? 'none' :
				this.sort.down ? 'descending' : 'ascending');
			if (c.title)
				b.title = c.title;
			b.addEventListener('click', () => {
				this.sort = { key: c.key, down: isSorted ? !this.sort.down : c.key !== 'name' };
				this.show(this.view);
				this.hooks.onsort?.(this.sort);
			});
			cell.append(b);
			return cell;
		}));
	}

	// All rows anew: values or order have changed.
	#renew() {
		this.list = this.columns();
		this.made.clear();
		this.body.replaceChildren();
		this.body.style.height = `${this.order.length * this.rowHeight}px`;
		this.scroller.setAttribute('aria-rowcount', this.order.length);
		this.#render();
	}

	#render() {
		const top = this.scroller.scrollTop;
		const high = Math.max(this.scroller.clientHeight, 400);
		const from = Math.max(0, Math.floor(top / this.rowHeight) - AHEAD);
		const to = Math.min(this.order.length,
			Math.ceil((top + high) / this.rowHeight) + AHEAD);

		for (const [at, row] of this.made)
			if (at < from || at >= to) {
				row.remove();
				this.made.delete(at);
			}
		for (let at = from; at < to; at++)
			if (!this.made.has(at)) {
				const row = this.#row(at);

				row.style.transform = `translateY(${at * this.rowHeight}px)`;
				this.made.set(at, row);
				this.body.append(row);
			}
	}

	#row(at) {
		const r = this.order[at];
		const { model, figures, total } = this.view;
		const site = figures.rows[r];
		const row = make('div', 'row');

		row.setAttribute('role', 'row');
		row.setAttribute('aria-rowindex', at + 1);
		row.dataset.at = at;
		row.id = `row-${at}`;
		row.setAttribute('aria-selected', String(site === this.selected));
		if (model.columns['site.suppression'][site] > 0)
			row.classList.add('suppressed');
		for (const c of this.list)
			row.append(c.key === 'name' ? this.#name(site) :
				c.key === 'value' ? bar(c.of(r), total, figures.isSigned) :
					number(c, c.of(r), figures.isSigned));
		return row;
	}

	#name(site) {
		const { model } = this.view;
		const cell = make('div', 'cell name');
		const stack = model.stackOf(site);

		cell.setAttribute('role', 'gridcell');
		if (stack.length === 0)
			return cell;
		if (model.isUser[site])
			cell.append(make('bdi', 'pool', model.word('pool', site)));
		const own = model.ownOf(stack);
		const head = make('bdi', 'function', model.functionName(stack[own]));

		head.title = model.fullName(stack[own]);
		cell.append(head);
		const where = model.place(stack[own]);

		if (where)
			cell.append(make('bdi', 'place', where));
		const merged = model.figure('merged', site);

		if (merged > 0)
			cell.append(make('span', 'place', `${count(merged)} sites`));
		if (own > 0)
			cell.append(make('span', 'arrow', '\u2192'),
				make('bdi', 'caller', model.functionName(stack[own - 1])));
		for (let i = own + 1; i < stack.length && i <= own + CALLERS; i++)
			cell.append(make('span', 'arrow', '\u2190'),
				make('bdi', 'caller', model.functionName(stack[i])));
		if (stack.length > own + CALLERS + 1)
			cell.append(make('span', 'arrow', '\u2190 \u2026'));
		return cell;
	}

	select(site, scroll) {
		this.selected = site;
		for (const [at, row] of this.made)
			row.setAttribute('aria-selected',
				String(this.view.figures.rows[this.order[at]] === site));
		const at = this.#at();

		if (at >= 0)
			this.scroller.setAttribute('aria-activedescendant', `row-${at}`);
		else
			this.scroller.removeAttribute('aria-activedescendant');
		if (scroll && at >= 0)
			this.#reveal(at);
	}

	#at() {
		return this.order ? this.order.findIndex(
			(r) => this.view.figures.rows[r] === this.selected) : -1;
	}

	#reveal(at) {
		const y = at * this.rowHeight;
		const s = this.scroller;

		if (y < s.scrollTop)
			s.scrollTop = y;
		else if (y + this.rowHeight > s.scrollTop + s.clientHeight)
			s.scrollTop = y + this.rowHeight - s.clientHeight;
	}

	#choose(at) {
		if (at < 0 || at >= this.order.length)
			return;
		const site = this.view.figures.rows[this.order[at]];

		this.select(site, true);
		this.#render();
		this.hooks.onselect(this.order[at]);
	}

	#listen() {
		this.scroller.addEventListener('scroll', () => this.order && this.#render());
		new ResizeObserver(() => this.order && this.#render()).observe(this.scroller);
		this.body.addEventListener('click', (e) => {
			const row = e.target.closest('.row');

			// a text that is being marked is not a click
			if (row && String(getSelection()) === '')
				this.#choose(Number(row.dataset.at));
		});
		this.scroller.addEventListener('keydown', (e) => {
			const page = Math.max(1,
				Math.floor(this.scroller.clientHeight / this.rowHeight) - 1);
			const at = this.order ? this.#at() : -1;
			const to = { ArrowDown: at + 1, ArrowUp: Math.max(at - 1, 0),
				PageDown: Math.min(at + page, this.order.length - 1),
				PageUp: Math.max(at - page, 0), Home: 0,
				End: this.order.length - 1, Enter: at }[e.key];

			if (to === undefined || e.ctrlKey || e.metaKey || e.altKey)
				return;
			e.preventDefault();
			this.#choose(to);
		});
	}

	// On paper the first rows stand one below the other.
	print() {
		this.#renewRange(0, Math.min(PRINTED, this.order?.length ?? 0));
	}

	#renewRange(from, to) {
		this.made.clear();
		this.body.replaceChildren();
		for (let at = from; at < to; at++) {
			const row = this.#row(at);

			this.made.set(at, row);
			this.body.append(row);
		}
	}

	endPrint() {
		if (this.order)
			this.#renew();
	}
}

function share(part, whole) {
	return whole > 0 ? part / whole : -1;
}

function mean(bytes, blocks) {
	return blocks > 0 ? bytes / blocks : -1;
}

function number(column, value, isSigned) {
	const text = column.text ? column.text(value) : signed(value, isSigned);
	const cell = make('div', `cell ${column.css}`, text);

	cell.setAttribute('role', 'gridcell');
	if (isSigned && value !== 0)
		cell.classList.add(value > 0 ? 'grew' : 'shrank');
	return cell;
}

function bar(value, total, isSigned) {
	const cell = make('div', 'cell share');
	const fill = make('div', 'bar');

	cell.setAttribute('role', 'gridcell');
	fill.style.width = `${total > 0 ? Math.min(100, 100 * Math.abs(value) / total) : 0}%`;
	if (isSigned)
		fill.classList.add(value >= 0 ? 'grew' : 'shrank');
	cell.append(fill, make('span', '', percent(value, total)));
	return cell;
}
