// main.js - the page: state, and what follows from it.
// SPDX-License-Identifier: Apache-2.0
import { forget } from './colours.js';
import { load } from './data.js';
import { show as showDetail } from './detail.js';
import { $, choice, copy, make } from './dom.js';
import { figures, metricsOf, snap } from './figures.js';
import { Flame } from './flame.js';
import { course, Line, marks } from './line.js';
import { show as showLosses } from './losses.js';
import { Model } from './model.js';
import { show as showMappings } from './mappings.js';
import { show as showRss } from './rss.js';
import { Course, poll } from './served.js';
import { Table } from './table.js';
import { bytes, clean, count, date, percent, plural, signed, time } from './text.js';
import { ROOT } from './tree.js';
import { scores } from './score.js';
import { paragraphs, passes } from './verdict.js';
import { showCensus } from './census.js';
import { showHeld } from './held.js';

const TITLES = {
	live: 'Live', peak: 'At the peak', allocated: 'Allocated',
	temporary: 'Short-lived',
};

// What the root of the flame graph is.
const ALL = {
	live: { bytes: 'live bytes', count: 'live blocks' },
	peak: { bytes: 'bytes at the peak', count: 'blocks at the peak' },
	allocated: { bytes: 'allocated bytes', count: 'calls' },
	temporary: { bytes: 'short-lived bytes', count: 'short-lived blocks' },
	older: { bytes: 'old bytes', count: 'old blocks' },
};

const NOTHING = {
	live: 'live', peak: 'live at the peak', allocated: 'allocated',
	temporary: 'short-lived', older: 'that old',
};

const INSTEAD = { live: 'all live blocks', peak: 'the heap at its peak', allocated: 'all allocations' };

const KEYS = [
	['/', 'search; Esc clears'],
	['1 2 3 4', 'live, peak, allocated, short-lived (5: older)'],
	['b', 'bytes or blocks'],
	['i', 'callees or callers'],
	['m', 'merge by function, line or module'],
	['\u2190 \u2191 \u2192 \u2193', 'move in the flame graph or the table'],
	['Enter', 'zoom, or show the site'],
	['Backspace, Home', 'zoom out, all the way'],
	['t', 'light or dark'],
	['?', 'these keys'],
];

const PAPER_WIDTH = 680; // of A4 and letter, less margins
const PAPER_HEIGHT = 860;

const state = {
	process: 'all',
	compare: '',
	kind: 'heap',
	suppressed: false,
	verdict: '', // the table shows these alone: leak, possible
	metric: 'live',
	isChosen: false, // the metric, by the user
	unit: 'bytes',
	grouping: 'function',
	inverted: false,
	query: '',
	range: null, // {from_us, to_us, spans}
	selected: -1,
	hidden: 0, // suppressed sites
};

let model, flame, table, line, now, whole, lineInput, searchStacks, tableLater = 0;
const set = {};

// ---- what is looked at ----

// A process at several moments counts once: as it was at last.
function atLast(processes) {
	const last = new Map();

	for (const p of processes) {
		const known = last.get(p.uuid);

		if (!known || (known.snapshot && (!p.snapshot ||
			p.snapshot_ms >= known.snapshot_ms)))
			last.set(p.uuid, p);
	}
	return [...last.values()];
}

function chosen(which) {
	if (which === 'all')
		return atLast(model.processes);
	if (which.startsWith('input '))
		return atLast(model.processes.filter(
			(p) => p.input === Number(which.slice(6))));
	return [model.processes[Number(which)]];
}

function refresh() {
	const processes = chosen(state.process);

	const what = {
		processes,
		before: state.compare === '' ? null : chosen(state.compare),
		spans: state.range?.spans ?? null,
		user: state.kind === 'user',
		suppressed: state.suppressed,
	};

	now = figures(model, what);
	// the totals are those of the run, whatever is left out below
	whole = state.suppressed || !model.hasSuppressed ? now :
		figures(model, { ...what, suppressed: true });
	if (!state.isChosen && !now.isSigned)
		state.metric = firstMetric();
	if (!now.value(state.metric, state.unit))
		state.metric = 'live';
	table.select(-1);
	select(-1);
	showTiles(processes);
	refreshViews();
}

// The metric that the command asked for or, if that is empty, one that is not.
function firstMetric() {
	const wanted = model.head.metric;

	return [wanted, ...(wanted === 'older' ? ['live'] : []), 'peak', 'allocated']
		.find((m) => now.total(m, 'count') > 0) ?? wanted;
}

// Metric, unit or shape have changed; the sites have not.
function refreshViews() {
	const values = now.value(state.metric, state.unit);

	set.metric(state.metric);
	set.unit(state.unit);
	set.direction(String(state.inverted));
	set.grouping(state.grouping);
	flame.show(model, now, values, model.group(state.grouping), state.inverted,
		state.path ?? []);
	search();
	showFlameKey();
	showInstead();
	inspect(-1);
	$('unzoom').hidden = flame.zoomed === ROOT;
}

function total() {
	const values = now.value(state.metric, state.unit);
	let sum = 0;

	for (const v of values)
		sum += Math.abs(v);
	return sum;
}

function refreshTable() {
	const tree = flame.tree;
	const inside = flame.zoomed === ROOT ? tree.order : tree.rowsOf(flame.zoomed);
	const rows = inside.filter((r) =>
		(!searchStacks || searchStacks[model.siteStack[now.rows[r]]]) &&
		passes(state.verdict, now.verdictOf(r)));

	table.show({ model, figures: now, metric: state.metric, unit: state.unit,
		rows, total: total() });
	showSitesText(rows, tree.order.length);
}

function showSitesText(rows, all) {
	const values = now.value(state.metric, 'bytes');
	let sum = 0;

	for (const r of rows)
		sum += values[r];
	const parts = [rows.length === all ? plural(all, 'stack') :
		`${count(rows.length)} of ${plural(all, 'stack')}`,
	signed(sum, now.isSigned, bytes)];

	if (flame.zoomed !== ROOT)
		parts.push(`${state.inverted ? 'called through' : 'below'} ${flame.label(flame.zoomed)}`);
	if (state.verdict)
		parts.push(state.verdict === 'leak' ? 'lost' : 'lost, or possibly');
	if (state.query)
		parts.push(`matching \u201c${clean(state.query)}\u201d`);
	$('sites-text').textContent = parts.join(' \u00b7 ');
}

// ---- tiles, texts ----

// What each side of a comparison has by itself: before, now.
function sidesOf(processes) {
	const what = { before: null, spans: null, user: state.kind === 'user',
		suppressed: true };

	return state.compare === '' ? null : [chosen(state.compare), processes].map(
		(side) => figures(model, { ...what, processes: side }));
}

function showTiles(processes) {
	const both = sidesOf(processes);

	for (const b of $('metrics').children) {
		const metric = b.dataset.value;
		const size = whole.total(metric, 'bytes');
		const blocks = whole.total(metric, 'count');
		const [label, value, exact, sides] = b.children;

		b.disabled = size === null;
		label.textContent = now.isSigned && metric === 'allocated' ?
			state.range ? 'Allocated inside' : 'Allocated' :
			TITLES[metric] ?? `Older than ${model.head.older.than}`;
		value.textContent = size === null ? '\u2013' :
			signed(size, now.isSigned, bytes);
		exact.textContent = size === null ? 'not known for a part of the run' :
			`${signed(size, now.isSigned)} in ${signed(blocks, now.isSigned)} ` +
			(metric === 'allocated' ? 'call' : 'block') +
			(Math.abs(blocks) === 1 ? '' : 's');
		sides.textContent = !both || size === null ? '' :
			`${bytes(both[0].total(metric, 'bytes'))} \u2192 ` +
			bytes(both[1].total(metric, 'bytes'));
		b.title = metric === 'peak' && processes.length > 1 ?
			'the sum of the peaks of all processes, which were at different times' :
			metric === 'temporary' ? model.temporaryTitle :
				metric === 'older' ? 'live blocks of this age' : '';
	}
}

function processLabel(p) {
	const input = model.head.inputs[p.input];
	const title = model.head.inputs.length > 1 && input.title ?
		`${clean(input.title)}: ` : '';
	const moment = p.snapshot ? ` at ${p.snapshot_label ?
		`\u201c${clean(p.snapshot_label)}\u201d` : date(p.snapshot_ms)}` : '';

	return `${title}${p.name} (${p.pid})${moment}, ${bytes(p.totals.live_bytes)} live`;
}

function showProcess() {
	const processes = chosen(state.process);
	const one = processes.length === 1 ? processes[0] : null;

	$('program').textContent = one ? one.name :
		plural(processes.length, 'process', 'processes');
	$('about').textContent = one ? [`pid ${one.pid}`, date(one.start_ms),
		one.command.map((a) => clean(a)).join(' ')].filter(Boolean).join(' \u00b7 ') :
		[...new Set(processes.map((p) => p.name))].slice(0, 8).join(', ');
	$('about').title = one ? one.command.map((a) => clean(a)).join(' ') : '';
	document.title = `${one ? one.name : 'seep'} \u2013 heap report`;
	$('verdicts').replaceChildren(...paragraphs(processes), ...scores(processes));
	$('rss').replaceChildren(...showRss(processes), ...showMappings(processes));
	$('summary').textContent = one ? clean(one.summary) : summaryOf(processes);
	$('warnings').replaceChildren(...model.head.inputs
		.filter((i) => !i.complete).map((i) => make('li', '',
			`${i.title ? `${clean(i.title)}: ` : ''}the recording is cut off; ` +
			'the figures are those of its last complete part.')),
	...(model.head.older?.remarks ?? []).map((r) => make('li', '', clean(r))));
	showLosses($('losses'), model, processes);
	showCensus(model.head);
	showHeld(model.head);
	showLine(processes);
	showSuppressed(processes);
}

function summaryOf(processes) {
	const add = (name) => processes.reduce((n, p) => n + p.totals[name], 0);

	return `${plural(processes.length, 'process', 'processes')} made ` +
		`${plural(add('allocations'), 'allocation')} of ` +
		`${bytes(add('allocated_bytes'))} in total; ${bytes(add('live_bytes'))} in ` +
		`${plural(add('live_blocks'), 'block')} were live at the last known moment of ` +
		`each process; their peaks, at different times, add up to ` +
		`${bytes(add('peak_bytes'))}.`;
}

function showSuppressed(processes) {
	const c = model.columns;
	let sites = 0;
	let live = 0;

	for (const p of processes)
		for (let i = p.first; i < p.first + p.rows; i++)
			if (c['site.suppression'][i] > 0) {
				sites++;
				live += c['site.live_bytes'][i];
			}
	state.hidden = sites;
	$('suppressed-label').hidden = sites === 0;
	$('suppressed-text').textContent =
		`show ${plural(sites, 'suppressed site')}, ${bytes(live)} live`;
}

function showFlameKey() {
	$('flame-key').textContent = now.isSigned ?
		'The width shows how much changed: red grew, blue shrank, grey did both.' :
		total() === 0 ? `Nothing here is ${NOTHING[state.metric]}; select another ` +
			'tile above.' : '';
}

// Explains why the page does not show the figures that were asked for.
function showInstead() {
	const wanted = model.head.metric;
	const isOther = !state.isChosen && !now.isSigned && state.metric !== wanted;
	const rest = isOther && whole.total(wanted, 'count') > 0 ?
		' except suppressed sites' : '';

	$('instead').textContent = isOther ? `Nothing is ${NOTHING[wanted]}${rest}. ` +
		`The page shows ${INSTEAD[state.metric]} instead.` :
		state.compare !== '' ? 'Compared with ' +
			`${$('compare').selectedOptions[0].textContent}: ` +
			'figures, flame graph and table are differences.' : '';
}

// ---- time line ----

function showLine(processes) {
	const inputs = new Set(processes.map((p) => p.input));
	const input = inputs.size === 1 ? processes[0].input : -1;
	const recording = input >= 0 ? model.head.inputs[input].recording : null;
	const data = recording ? course(model, processes) : null;

	lineInput = recording && data.x.length > 1 ? input : -1;
	$('line-section').hidden = lineInput < 0;
	if (lineInput < 0)
		return;
	line.show(data, marks(model, input, processes), recording.until_us);
	line.onhover = (i) => {
		$('line-at').textContent = i === null || i === undefined ? '' :
			`${time(data.x[i] * 1e6)}: ${bytes(data.live[i])} live` +
			(data.rate[i] === null ? '' : `, ${bytes(data.rate[i])}/s`);
	};
}

function setRange(from_us, to_us) {
	const recording = lineInput >= 0 ? model.head.inputs[lineInput].recording : null;

	if (from_us === null || !recording || recording.moments < 1) {
		state.range = null;
	} else {
		const s = snap(recording, Math.min(from_us, to_us), Math.max(from_us, to_us));

		state.range = { ...s, spans: [{ input: lineInput, from: s.from, to: s.to }] };
		state.compare = '';
		$('compare').value = '';
	}
	line.select(state.range);
	refresh();
	showRange();
}

function showRange() {
	const r = state.range;

	$('clear-range').disabled = !r;
	$('from').value = r ? (r.from_us / 1e6).toFixed(2) : '';
	$('to').value = r ? (r.to_us / 1e6).toFixed(2) : '';
	$('range-text').textContent = !r ? '' :
		`From ${$('from').value} to ${$('to').value} s: ` +
		`${signed(whole.total('live', 'bytes'), true)} live bytes in ` +
		`${signed(whole.total('live', 'count'), true)} blocks, ` +
		`${count(whole.total('allocated', 'bytes'))} bytes allocated by ` +
		`${count(whole.total('allocated', 'count'))} calls. ` +
		'Flame graph and table show what changed in between.';
}

// ---- search, zoom ----

function tester(text) {
	const m = /^\/(.*)\/?$/s.exec(text);

	if (!m) {
		const low = text.toLowerCase();

		return (s) => s.toLowerCase().includes(low);
	}
	const re = new RegExp(m[1].replace(/\/$/, ''), 'i');

	return (s) => re.test(s);
}

function search() {
	let frames = null;

	$('search').removeAttribute('aria-invalid');
	if (state.query)
		try {
			frames = model.matchFrames(tester(state.query));
		} catch {
			$('search').setAttribute('aria-invalid', 'true');
		}
	searchStacks = frames ? model.matchStacks(frames) : null;
	flame.search(frames);
	showMatched();
	refreshTable();
}

function showMatched() {
	if (!searchStacks) {
		$('matched').textContent = '';
		return;
	}
	const values = now.value(state.metric, state.unit);
	let sum = 0;

	for (const r of flame.tree.order)
		if (searchStacks[model.siteStack[now.rows[r]]])
			sum += Math.abs(values[r]);
	$('matched').textContent = `${percent(sum, total())} matched`;
}

function inspect(node) {
	const shown = node >= 0 ? node : flame.zoomed;
	const tree = flame.tree;
	const frame = tree.frameOf(shown);
	const value = tree.value.list[shown];
	const net = tree.net.list[shown];
	const amount = now.isSigned ? net : value;
	const parts = [state.unit === 'bytes' ?
		`${signed(amount, now.isSigned)} bytes` :
		`${signed(amount, now.isSigned)} ${state.metric === 'allocated' ? 'calls' : 'blocks'}`];

	if (shown === ROOT && state.hidden > 0 && !state.suppressed)
		parts.push(`without ${plural(state.hidden, 'suppressed site')}`);
	if (shown !== ROOT) {
		parts.push(`${percent(value, tree.value.list[ROOT])} of all`);
		if (tree.parent.list[shown] > ROOT)
			parts.push(`${percent(value, tree.value.list[tree.parent.list[shown]])} of its ${state.inverted ? 'callee' : 'caller'}`);
		const rows = tree.end.list[shown] - tree.begin.list[shown];

		parts.push(plural(rows, 'stack'));
		if (frame >= 0 && state.grouping !== 'module' && !model.isMissing(frame)) {
			const place = state.grouping === 'line' ? model.place(frame) : '';

			parts.unshift([place, model.moduleName(frame)].filter(Boolean).join(' '));
		}
	}
	$('inspector-name').textContent = flame.label(shown);
	$('inspector-name').title = flame.label(shown);
	$('inspector-figures').textContent = parts.filter(Boolean).join(' \u00b7 ');
}

function zoomed() {
	state.path = flame.path();
	$('unzoom').hidden = flame.zoomed === ROOT;
	inspect(flame.zoomed);
	// the picture first: sorting very many rows takes longer
	cancelAnimationFrame(tableLater);
	tableLater = requestAnimationFrame(() => setTimeout(refreshTable));
}

// ---- one site ----

// row: of the figures, or -1
function select(row) {
	state.selected = row;
	showDetail($('detail'), model, row < 0 ? [] : chosenSites(row), () => {
		table.select(-1);
		select(-1);
	});
	if (row >= 0 && window.innerWidth <= 1180)
		$('detail').scrollIntoView({ block: 'nearest' });
}

// Of what has gone there is only the side to compare with.
function chosenSites(row) {
	const sites = now.sitesOf(row);

	return sites.length > 0 ? sites : [now.rows[row]];
}

function tableText() {
	const list = table.columns().filter((c) => c.key !== 'value');
	const lines = [list.map((c) => c.label).join('\t')];

	for (const r of table.order) {
		const site = now.rows[r];

		lines.push(list.map((c) => c.key === 'name' ?
			Array.from(model.stackOf(site), (f) => model.functionName(f)).join(' \u2190 ') :
			c.key === 'verdict' ? c.text(c.of(r)) :
				String(c.of(r) < 0 && c.text ? '' : c.of(r))).join('\t'));
	}
	return `${lines.join('\n')}\n`;
}

// ---- theme ----

function setTheme(name) {
	document.documentElement.dataset.theme = name;
	forget();
	if (flame?.tree)
		flame.draw();
	line?.redraw();
	if (model && state.selected >= 0)
		select(state.selected);
}

function remembered(value) {
	try {
		if (value)
			localStorage.setItem('seep-theme', value);
		return localStorage.getItem('seep-theme');
	} catch {
		return null;
	}
}

function startTheme() {
	const dark = matchMedia('(prefers-color-scheme: dark)');
	const wanted = () => remembered() ?? (dark.matches ? 'dark' : 'light');

	setTheme(wanted());
	dark.addEventListener('change', () => setTheme(wanted()));
	addEventListener('beforeprint', () => {
		setTheme('light');
		table?.print();
		line?.resize(PAPER_WIDTH);
		flame?.print(PAPER_WIDTH, PAPER_HEIGHT);
	});
	addEventListener('afterprint', () => {
		setTheme(wanted());
		table?.endPrint();
		flame?.endPrint();
	});
}

function toggleTheme() {
	const next = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';

	remembered(next);
	setTheme(next);
}

// ---- start ----

function option(value, text) {
	const o = make('option', '', text);

	o.value = value;
	return o;
}

// Again, when there is new data: processes come and end.
function makeOptions() {
	const many = model.processes.length > 1;
	const inputs = model.head.inputs;
	const groups = inputs.length > 1 ? inputs.map((input, i) => option(`input ${i}`,
		`all of ${clean(input.title ?? `input ${i + 1}`)}`)) :
		atLast(model.processes).length > 1 ? [option('all',
			`all ${count(atLast(model.processes).length)} processes`)] : [];
	const options = () => [...groups.map((o) => o.cloneNode(true)),
		...[...model.processes].sort((a, b) => a.input - b.input ||
			b.totals.live_bytes - a.totals.live_bytes).map(
			(p) => option(String(p.number), processLabel(p)))];

	$('process').replaceChildren(...options());
	$('process-label').hidden = !many;
	$('compare').replaceChildren(option('', 'nothing'), ...options());
	$('compare-label').hidden = !many;
	$('kind-label').hidden = !model.isUser.includes(1);
	$('verdict-label').hidden = model.verdicts.size === 0;
}

function makeControls() {
	makeOptions();
	set.unit = choice($('units'), [['bytes', 'bytes'], ['count', 'count']],
		(v) => change({ unit: v }));
	set.direction = choice($('direction'),
		[['false', 'callees', 'from main down to the allocating function (i)'],
			['true', 'callers', 'from the allocating function up to main (i)']],
		(v) => change({ inverted: v === 'true', path: [] }));
	set.grouping = choice($('grouping'), [['function', 'functions'],
		['line', 'lines'], ['module', 'modules']],
	(v) => change({ grouping: v, path: [] }));
	makeTiles();
}

function makeTiles() {
	set.metric = choice($('metrics'), metricsOf(model).map((m) => [m, '']),
		(v) => change({ metric: v, isChosen: true }));
	$('metrics').classList.toggle('five', metricsOf(model).length === 5);
	for (const b of $('metrics').children)
		b.replaceChildren(make('span', 'label'), make('span', 'value'),
			make('span', 'exact'), make('span', 'exact sides'));
}

function change(part) {
	Object.assign(state, part);
	refreshViews();
}

function listen() {
	let timer = 0;

	$('process').addEventListener('change', (e) => changeProcess(e.target.value));
	$('compare').addEventListener('change', (e) => {
		state.compare = e.target.value;
		state.range = null;
		line.select(null);
		showRange();
		refresh();
	});
	$('kind').addEventListener('change', (e) => {
		state.kind = e.target.value;
		refresh();
	});
	$('verdict').addEventListener('change', (e) => {
		state.verdict = e.target.value;
		refreshTable();
	});
	$('suppressed').addEventListener('change', (e) => {
		state.suppressed = e.target.checked;
		refresh();
		showRange();
	});
	$('search').addEventListener('input', (e) => {
		clearTimeout(timer);
		timer = setTimeout(() => {
			state.query = e.target.value.trim();
			search();
		}, model.siteCount > 5000 ? 150 : 30);
	});
	$('unzoom').addEventListener('click', () => flame.zoom(ROOT));
	$('theme').addEventListener('click', toggleTheme);
	$('help-button').addEventListener('click', () => $('help').showModal());
	$('clear-range').addEventListener('click', () => setRange(null));
	$('range').addEventListener('submit', (e) => {
		e.preventDefault();
		applyInputs();
	});
	for (const id of ['from', 'to'])
		$(id).addEventListener('change', applyInputs);
	$('copy-table').addEventListener('click', async (e) => {
		const done = await copy(tableText());

		e.target.textContent = done ? 'Copied' : 'Cannot copy';
		setTimeout(() => {
			e.target.textContent = 'Copy table';
		}, 1500);
	});
	addEventListener('keydown', key);
}

function applyInputs() {
	const until = model.head.inputs[lineInput]?.recording?.until_us ?? 0;
	const from = parseFloat($('from').value.replace(',', '.'));
	const to = parseFloat($('to').value.replace(',', '.'));

	if (Number.isNaN(from) && Number.isNaN(to))
		setRange(null);
	else
		setRange(Number.isNaN(from) ? 0 : from * 1e6,
			Number.isNaN(to) ? until : to * 1e6);
}

function changeProcess(value) {
	state.process = value;
	state.range = null;
	state.path = [];
	line.select(null);
	showProcess();
	showRange();
	refresh();
}

const cycle = (list, value) => list[(list.indexOf(value) + 1) % list.length];

function key(e) {
	if (e.ctrlKey || e.metaKey || e.altKey || $('help').open)
		return;
	if (e.key === 'Escape') {
		escape();
		return;
	}
	if (e.target.closest('input, select, textarea'))
		return;
	const metric = metricsOf(model)[Number(e.key) - 1];

	if (metric && now.value(metric, state.unit))
		change({ metric, isChosen: true });
	else if (e.key === '/')
		$('search').focus();
	else if (e.key === 'b')
		change({ unit: state.unit === 'bytes' ? 'count' : 'bytes' });
	else if (e.key === 'i')
		change({ inverted: !state.inverted, path: [] });
	else if (e.key === 'm')
		change({ grouping: cycle(['function', 'line', 'module'], state.grouping), path: [] });
	else if (e.key === 't')
		toggleTheme();
	else if (e.key === '?')
		$('help').showModal();
	else
		return;
	e.preventDefault();
}

function escape() {
	if (state.query) {
		$('search').value = state.query = '';
		search();
	} else if (flame.zoomed !== ROOT) {
		flame.zoom(ROOT);
	} else if (state.selected >= 0) {
		table.select(-1);
		select(-1);
	}
	document.activeElement?.closest('#search')?.blur();
}

function begin(data) {
	model = new Model(data);
	state.metric = model.head.metric;
	flame = new Flame($('flame'), {
		onzoom: zoomed,
		onhover: inspect,
		rootLabel: () => `all \u00b7 ${ALL[state.metric][state.unit]}`,
	});
	table = new Table($('table'), { onselect: select });
	line = new Line($('line'), setRange);
	makeControls();
	$('keys').replaceChildren(...KEYS.flatMap(([k, what]) =>
		[make('dt', '', k), make('dd', '', what)]));
	showFoot();
	$('page').hidden = false;
	startChoice();
	listen();
	showProcess();
	showRange();
	refresh();
	$('status').hidden = true;
}

// One process: that; a comparison: as the command said; else all.
function startChoice() {
	const inputs = model.head.inputs;

	if (inputs.length > 1) {
		state.process = `input ${inputs.length - 1}`;
		if (model.head.compare)
			state.compare = 'input 0';
	} else {
		const last = atLast(model.processes);

		state.process = last.length === 1 ? String(last[0].number) : 'all';
	}
	$('process').value = state.process;
	$('compare').value = state.compare;
}

function showFoot() {
	$('foot').textContent = `seep ${model.head.seep} \u00b7 sizes are requested ` +
		`bytes \u00b7 ${model.head.refresh ? `as of ${new Date().toLocaleTimeString()}` :
			'one file, no network'}`;
}

// ---- new data of a page that is served ----

// What a frame is in every reading, when frames are merged like this.
function nameOf(m, grouping, f) {
	return grouping === 'module' ? `${m.isMissing(f) ? m.functionName(f) : ''} ${m.moduleName(f)}` :
		`${m.fullName(f)} ${m.moduleName(f)} ${grouping === 'line' ?
			`${m.path(f)} ${m.frame.line[f]} ${m.frame.flags[f]}` : ''}`;
}

// The way to the box that is zoomed, in another model.
function samePath(before, path) {
	const groups = [before, model].map((m) => m.group(state.grouping));
	const numbers = new Map();

	for (let g = 0; g < groups[1].size; g++)
		numbers.set(nameOf(model, state.grouping, groups[1].first[g]), g);
	const same = path.map((g) => numbers.get(
		nameOf(before, state.grouping, groups[0].first[g])));
	const end = same.indexOf(undefined);

	return end < 0 ? same : same.slice(0, end);
}

// The process of a choice in another model; undefined: it is not there.
function sameProcess(before, which) {
	if (!/^\d+$/.test(which))
		return which;
	const p = model.processes.find((x) => x.uuid === before.processes[which].uuid);

	return p && String(p.number);
}

const siteKey = (m, site) => `${m.processes[m.siteProcess[site]].uuid} ${m.columns['site.id'][site]}`;

function renew(data) {
	const before = model;
	const picked = state.selected < 0 ? null : siteKey(model, chosenSites(state.selected)[0]);

	model = new Model(data);
	state.path = samePath(before, state.path ?? []);
	const process = sameProcess(before, state.process);
	const compare = sameProcess(before, state.compare);

	makeOptions();
	if (process === undefined || compare === undefined) {
		state.compare = '';
		startChoice();
	} else {
		state.process = process === 'all' && model.processes.length === 1 ? '0' : process;
		state.compare = compare;
		$('process').value = state.process;
		$('compare').value = state.compare;
	}
	showProcess();
	if (state.range && lineInput >= 0) {
		const s = snap(model.head.inputs[lineInput].recording,
			state.range.from_us, state.range.to_us);

		state.range = { ...s, spans: [{ input: lineInput, from: s.from, to: s.to }] };
	}
	line.select(state.range);
	refresh();
	showRange();
	if (picked)
		selectAgain(picked);
	showFoot();
	$('status').hidden = true;
}

function selectAgain(picked) {
	const row = now.rows.findIndex((first, r) =>
		chosenSites(r).some((site) => siteKey(model, site) === picked));

	if (row < 0)
		return;
	table.select(now.rows[row]);
	select(row);
}

// The word of the server is data; it is shown, and never run.
function follow(course) {
	poll(model.head.refresh, async (text) => {
		const data = await load(text);

		course.add(data);
		renew(data);
	}, (why) => {
		$('status').hidden = false;
		$('status').textContent = `No new figures: ${clean(why)}`;
	});
}

async function main() {
	const t0 = performance.now();

	startTheme();
	try {
		const data = await load($('data').textContent);
		const course = data.head.refresh ? new Course() : null;

		course?.add(data);
		begin(data);
		if (course)
			follow(course);
		$('data').remove(); // a large text that nobody needs any more
	} catch (error) {
		$('page').hidden = true;
		$('status').hidden = false;
		$('status').textContent = `This report cannot be shown: ${error.message}`;
		throw error;
	}
	// for tests
	window.seep = { get model() { return model; }, state, ready: performance.now(),
		took: performance.now() - t0, get figures() { return now; }, flame, table, line };
}

main();
