// data.js - what seep packed into the page: base64, gzip, head and columns.
// SPDX-License-Identifier: Apache-2.0
// docs/PAGE.md describes the format.

function fromBase64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const raw = atob(text);
	const bytes = new Uint8Array(raw.length);

	for (let i = 0; i < raw.length; i++)
		bytes[i] = raw.charCodeAt(i);
	return bytes;
}

async function gunzip(bytes) {
	if (typeof DecompressionStream === 'undefined')
		throw new Error('This browser is too old: it has no ' +
			'DecompressionStream (Chrome 80, Firefox 113, Safari 16.4).');
	const stream = new Blob([bytes]).stream()
		.pipeThrough(new DecompressionStream('gzip'));

	return new Uint8Array(await new Response(stream).arrayBuffer());
}

// LEB128; numbers beyond 2^53 lose their last digits.
function column(bytes, at, count, code) {
	const out = new Float64Array(count);
	let last = 0;

	for (let i = 0; i < count; i++) {
		let b = bytes[at++];
		let value = b & 127;

		if (b > 127) {
			let factor = 128;

			do {
				b = bytes[at++];
				value += (b & 127) * factor;
				factor *= 128;
			} while (b > 127);
		}
		if (code !== 'plain') {
			value = value % 2 === 0 ? value / 2 : -(value + 1) / 2;
			if (code === 'delta')
				value = last += value;
		}
		out[i] = value;
	}
	return out;
}

// {head, columns by name}
export function decode(bytes) {
	const view = new DataView(bytes.buffer, bytes.byteOffset);
	const length = view.getUint32(0, true);
	const head = JSON.parse(
		new TextDecoder().decode(bytes.subarray(4, 4 + length)));
	const columns = {};
	let at = 4 + length;

	for (const [name, code, count, size] of head.columns) {
		columns[name] = column(bytes, at, count, code);
		at += size;
	}
	return { head, columns };
}

export async function load(text) {
	return decode(await gunzip(fromBase64(text)));
}
