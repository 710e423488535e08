// line.js - the time line: live bytes, how fast they come, marks, a range.
// SPDX-License-Identifier: Apache-2.0
import uPlot from 'uplot';
import { colours } from './colours.js';
import { clean, short, time } from './text.js';

const HEIGHT = 170;
const MARKS_MAX = 40;
const PROGRAM_MARK = 2; // seep_mark() of the program

// The courses of some processes as one: sums that change with each point.
export function course(model, processes) {
	const c = model.columns;
	const events = [];

	for (const p of processes) {
		for (let i = p.firstPoint; i < p.firstPoint + p.points; i++)
			events.push([c['point.time_us'][i], p.number,
				c['point.live_bytes'][i], c['point.allocated_bytes'][i]]);
		events.push(...peakOf(model, p));
		// what a dead process held is gone
		if (p.points > 0 && p.end !== 'running' && processes.length > 1)
			events.push([c['point.time_us'][p.firstPoint + p.points - 1] + 1,
				p.number, 0, null]);
	}
	events.sort((a, b) => a[0] - b[0]);
	return addUp(events);
}

// The moment of the highest point, in us of the recording; -1: not known. The
// clock of the peak is coarse: a point that is as high is the better witness.
function peakTime(model, p) {
	const c = model.columns;
	const recording = model.head.inputs[p.input].recording;
	let us = recording ? (p.peak_ms - recording.start_ms) * 1000 : -1;

	if (p.points === 0 || !(p.totals.peak_bytes > 0) || us < 0)
		return -1;
	for (let i = p.firstPoint; i < p.firstPoint + p.points; i++)
		if (c['point.live_bytes'][i] >= p.totals.peak_bytes)
			return c['point.time_us'][i];
	// it was seen before the last look
	us = Math.min(us, c['point.time_us'][p.firstPoint + p.points - 1]);
	return Math.max(us, 0);
}

// The peak between two points: up to it, and back to what was there before.
function peakOf(model, p) {
	const c = model.columns;
	const us = peakTime(model, p);
	let before = 0;

	if (us < 0)
		return [];
	for (let i = p.firstPoint; i < p.firstPoint + p.points; i++) {
		if (c['point.live_bytes'][i] >= p.totals.peak_bytes)
			return [];
		if (c['point.time_us'][i] <= us)
			before = c['point.live_bytes'][i];
	}
	// in front of a point of the same moment
	return [[us - 0.5, p.number, p.totals.peak_bytes, null],
		[us - 0.25, p.number, before, null]];
}

function addUp(events) {
	const last = new Map();
	const x = [];
	const live = [];
	const allocated = [];
	let sum = 0;
	let all = 0;

	for (const [us, process, bytes, total] of events) {
		const was = last.get(process) ?? [0, 0];
		const now = [bytes, total ?? was[1]];

		sum += now[0] - was[0];
		all += now[1] - was[1];
		last.set(process, now);
		if (x.length > 0 && x[x.length - 1] === us / 1e6) {
			live[live.length - 1] = sum;
			allocated[allocated.length - 1] = all;
		} else {
			x.push(us / 1e6);
			live.push(sum);
			allocated.push(total === null ? null : all);
		}
	}
	return { x, live, rate: rates(x, allocated) };
}

// Bytes per second since the last point that knows how much was allocated.
function rates(x, allocated) {
	let last = -1;
	const rate = x.map((t, i) => {
		if (allocated[i] === null)
			return null;
		const from = last;

		last = i;
		return from < 0 || t <= x[from] ? null :
			(allocated[i] - allocated[from]) / (t - x[from]);
	});

	// a step begins where the one before ends
	rate[0] ??= rate.find((r) => r !== null) ?? null;
	return rate;
}

// {us, label, kind} of what happened to some processes.
export function marks(model, input, processes) {
	const recording = model.head.inputs[input].recording;
	const pids = new Set(processes.map((p) => p.pid));
	const list = [];

	for (const p of processes) {
		for (const m of p.marks)
			if (m.kind === PROGRAM_MARK)
				list.push({ us: (m.time_ms - recording.start_ms) * 1000,
					label: clean(m.label) || 'mark', kind: 'mark' });
		if (processes.length === 1 && peakTime(model, p) >= 0)
			list.push({ us: peakTime(model, p), label: 'peak', kind: 'peak' });
	}
	for (const s of model.head.inputs[input].snapshots)
		if (pids.has(s.pid))
			list.push({ us: (s.time_ms - recording.start_ms) * 1000,
				label: clean(s.label) || 'snapshot', kind: 'mark' });
	const events = recording.marks.filter((m) => pids.has(m.pid) &&
		!['start', 'spawn', 'end'].includes(m.kind));

	if (events.length <= MARKS_MAX)
		for (const m of events)
			list.push({ us: m.time_us, label: m.kind, kind: 'event' });
	return list.filter((m) => m.us >= 0 && m.us <= recording.until_us + 1e5)
		.sort((a, b) => a.us - b.us);
}

/* box: an element; onrange(from_us, to_us) or onrange(null) */
export class Line {
	constructor(box, onrange) {
		this.box = box;
		this.onrange = onrange;
		this.range = null;
		new ResizeObserver(() => {
			if (this.plot && this.box.clientWidth !== this.plot.width &&
				this.box.clientWidth > 0)
				this.plot.setSize({ width: this.box.clientWidth, height: HEIGHT });
		}).observe(box);
	}

	resize(width) {
		this.plot?.setSize({ width, height: HEIGHT });
	}

	show(data, list, until_us) {
		this.data = data;
		this.marks = list;
		this.until = until_us / 1e6;
		this.redraw();
	}

	redraw() {
		if (!this.data)
			return;
		this.plot?.destroy();
		this.plot = new uPlot(this.#options(colours()),
			[this.data.x, this.data.live, this.data.rate], this.box);
		this.select(this.range);
	}

	// Shows a range without telling anybody.
	select(range) {
		this.range = range;
		if (!this.plot)
			return;
		if (!range) {
			this.plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
			return;
		}
		const left = this.plot.valToPos(range.from_us / 1e6, 'x');
		const right = this.plot.valToPos(range.to_us / 1e6, 'x');

		this.plot.setSelect({ left, top: 0, width: Math.max(right - left, 1),
			height: this.plot.over.clientHeight }, false);
	}

	#options(p) {
		const axis = { stroke: p.soft, font: p.small, labelFont: p.small,
			ticks: { stroke: p.line, size: 4 }, grid: { stroke: p.line, width: 1 } };

		return {
			width: this.box.clientWidth || 600,
			height: HEIGHT,
			padding: [14, 0, 0, 0],
			legend: { show: false },
			scales: {
				x: { time: false, range: () => [0, this.until || 1] },
				y: { range: (u, low, high) => [0, high > 0 ? high * 1.08 : 1] },
				rate: { range: (u, low, high) => [0, high > 0 ? high * 1.08 : 1] },
			},
			axes: [
				{ ...axis, size: 26, values: (u, ticks) => ticks.map(seconds) },
				{ ...axis, scale: 'y', size: 56,
					values: (u, ticks) => ticks.map(short), space: 34,
					incrs: binary() },
				{ ...axis, scale: 'rate', side: 1, size: 58, grid: { show: false },
					values: (u, ticks) => ticks.map((t) => `${short(t)}/s`),
					space: 34, incrs: binary() },
			],
			series: [
				{},
				{ label: 'live', scale: 'y', stroke: p.accent, width: 1.5,
					fill: p.accentFill, points: { show: false },
					paths: uPlot.paths.stepped({ align: 1 }) },
				{ label: 'rate', scale: 'rate', stroke: p.second, width: 1,
					points: { show: false }, spanGaps: true,
					paths: uPlot.paths.stepped({ align: -1 }) },
			],
			cursor: {
				drag: { x: true, y: false, setScale: false, dist: 4 },
				points: { size: 6 },
				y: false,
			},
			hooks: {
				setSelect: [(u) => this.#selected(u)],
				setCursor: [(u) => this.onhover?.(u.cursor.idx)],
				draw: [(u) => this.#drawMarks(u, colours())],
			},
		};
	}

	#selected(u) {
		const { left, width } = u.select;

		if (width < 3)
			return;
		this.onrange(u.posToVal(left, 'x') * 1e6,
			u.posToVal(left + width, 'x') * 1e6);
	}

	#drawMarks(u, p) {
		const c = u.ctx;
		const ratio = window.devicePixelRatio || 1;
		const { left, top, width, height } = u.bbox;
		let free = left; // where the last label ends

		c.save();
		c.font = p.small.replace('11px', `${11 * ratio}px`);
		c.textBaseline = 'bottom';
		for (const m of this.marks) {
			const x = Math.round(u.valToPos(m.us / 1e6, 'x', true)) + 0.5;
			const wide = c.measureText(m.label).width;

			if (x < left - 1 || x > left + width + 1)
				continue;
			c.strokeStyle = m.kind === 'event' ? p.line : p.soft;
			c.lineWidth = ratio;
			c.setLineDash([2 * ratio, 3 * ratio]);
			c.beginPath();
			c.moveTo(x, top);
			c.lineTo(x, top + height);
			c.stroke();
			const at = Math.min(Math.max(x - wide / 2, left), left + width - wide);

			if (at < free)
				continue;
			c.fillStyle = p.soft;
			c.fillText(m.label, at, top - 1 * ratio);
			free = at + wide + 6 * ratio;
		}
		c.restore();
	}
}

function binary() {
	const list = [];

	for (let step = 1; step < 2 ** 60; step *= 1024)
		list.push(...[1, 2, 4, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200, 256,
			500, 512].map((n) => n * step));
	return list;
}

function seconds(s) {
	if (s === 0)
		return '0';
	if (s < 60)
		return `${+s.toFixed(3)} s`;
	return time(s * 1e6).replace(/ 0 (s|min|h)$/, '');
}
