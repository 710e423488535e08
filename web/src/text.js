// text.js - numbers and names as text: the same words as the command's.
// SPDX-License-Identifier: Apache-2.0

const group = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

// 1,234,567
export function count(n) {
	return group.format(n);
}

// +1,234, -1,234, 0 where the number is a difference
export function signed(n, isSigned, format = count) {
	if (!isSigned)
		return format(n);
	return (n > 0 ? '+' : n < 0 ? '\u2212' : '') + format(Math.abs(n));
}

// 1.2 MiB, 512 bytes
export function bytes(n) {
	let value = n / 1024;
	let i = 0;

	if (n < 1024)
		return n === 1 ? '1 byte' : `${Math.round(n)} bytes`;
	while (value >= 1023.95 && i + 1 < units.length) {
		value /= 1024;
		i++;
	}
	return `${value.toFixed(1)} ${units[i]}`;
}

// 512 B, 1.2M: for axes
export function short(n) {
	const letters = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
	let value = Math.abs(n);
	let i = 0;

	while (value >= 1000 && i + 1 < letters.length) {
		value /= 1024;
		i++;
	}
	const digits = value >= 10 || i === 0 || Number.isInteger(value) ? 0 : 1;

	return (n < 0 ? '\u2212' : '') + value.toFixed(digits) + letters[i];
}

// 12 ms, 3.4 s, 5 min 3 s, 2 h 5 min
export function time(us) {
	const s = Math.floor(us / 1e6);

	if (us < 1e6)
		return `${Math.floor(us / 1000)} ms`;
	if (s < 60)
		return `${(Math.floor(us / 1e5) / 10).toFixed(1)} s`;
	if (s < 3600)
		return `${Math.floor(s / 60)} min ${s % 60} s`;
	if (s < 86400)
		return `${Math.floor(s / 3600)} h ${Math.floor(s / 60) % 60} min`;
	return `${Math.floor(s / 86400)} d ${Math.floor(s / 3600) % 24} h`;
}

export function percent(part, whole) {
	if (!(whole > 0))
		return '\u2013';
	const value = 100 * part / whole;
	const size = Math.abs(value);

	if (size > 0 && size < 0.05)
		return value < 0 ? '>\u22120.1%' : '<0.1%';
	return `${value < 0 ? '\u2212' : ''}${size.toFixed(1)}%`;
}

export function plural(n, word, words = `${word}s`) {
	return `${count(n)} ${n === 1 ? word : words}`;
}

export function date(ms) {
	if (!(ms > 0))
		return '';
	const d = new Date(ms);
	const two = (n) => String(n).padStart(2, '0');

	return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ` +
		`${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

// Control characters, and marks that turn or hide text, become visible: those
// of words_hides() in src/view/sites/enum_words.c, and halves of surrogate pairs.
const odd = new RegExp('[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c' +
	'\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f' +
	'\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0' +
	'\\ufff0-\\ufffb\\ud800-\\udfff\\u{13430}-\\u{13440}' +
	'\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]', 'gu');

export function clean(text) {
	return text.replace(odd, (c) => {
		const hex = c.codePointAt(0).toString(16);

		return hex.length < 3 ? `\\x${hex.padStart(2, '0')}` :
			hex.length < 5 ? `\\u${hex.padStart(4, '0')}` :
				`\\U${hex.padStart(8, '0')}`;
	});
}

export function base(path) {
	return path.slice(path.lastIndexOf('/') + 1);
}
