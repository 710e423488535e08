// colours.js - colours of canvases, from the style sheet's.
// SPDX-License-Identifier: Apache-2.0

// Kinds of modules that have no number of their own.
export const MAIN = 1000;
export const SYSTEM = 1001;

let known = null;

// To be called when the theme has changed.
export function forget() {
	known = null;
}

/*
 * Modules have hues, functions shades of them, so that neighbours differ,
 * and what belongs together looks so. The program itself is warm, the system's
 * libraries are grey.
 */
const HUES = [205, 150, 265, 345, 90, 182, 232, 48, 310, 120];
const PROGRAM = 27;

function moduleColour(dark) {
	const cache = new Map();

	return (kind, key) => {
		const shade = (Math.imul(key, 0x9e3779b1) >>> 8) % 5;
		const name = kind * 8 + shade;
		let colour = cache.get(name);

		if (!colour) {
			const isSystem = kind === SYSTEM;
			const hue = isSystem ? 212 : kind === MAIN ? PROGRAM :
				HUES[kind % HUES.length];
			const chroma = isSystem ? 14 : dark ? 36 : 58;
			const light = dark ? 29 + shade * 2 : 79 + shade * 2;

			colour = `hsl(${hue} ${chroma}% ${light}%)`;
			cache.set(name, colour);
		}
		return colour;
	};
}

// -1: all went, 0: as much came as went, 1: all came
function changeColour(dark) {
	const light = dark ? [28, 12] : [90, -14];

	return (share) => {
		const size = Math.abs(share);
		const hue = share >= 0 ? 8 : 214;
		const chroma = dark ? 10 + 38 * size : 8 + 66 * size;

		return `hsl(${hue} ${chroma.toFixed(0)}% ` +
			`${(light[0] + light[1] * size).toFixed(0)}%)`;
	};
}

export function colours() {
	if (known)
		return known;
	const style = getComputedStyle(document.documentElement);
	const get = (name) => style.getPropertyValue(name).trim();
	const dark = get('--scheme') === 'dark';

	known = {
		dark,
		font: `12px ${get('--sans')}`,
		small: `11px ${get('--sans')}`,
		ink: get('--ink'),
		soft: get('--soft'),
		faint: get('--faint'),
		line: get('--line'),
		surface: get('--surface'),
		accent: get('--accent'),
		accentFill: get('--accent-fill'),
		second: get('--second'),
		focus: get('--accent'),
		root: get('--raised'),
		rootInk: get('--ink'),
		boxInk: dark ? '#f2f4f6' : '#15181c',
		dimInk: get('--faint'),
		match: dark ? '#a86a10' : '#f5b83d',
		noMatch: dark ? '#2a2f36' : '#e9ebee',
		missing: dark ? '#3a4048' : '#d5d9de',
		more: get('--more'),
		less: get('--less'),
		module: moduleColour(dark),
		change: changeColour(dark),
	};
	return known;
}
