// dom.js - elements, made and filled with text: never with markup.
// SPDX-License-Identifier: Apache-2.0

export const $ = (id) => document.getElementById(id);

// make('td', 'class', 'text' or [children])
export function make(tag, name, content) {
	const e = document.createElement(tag);

	if (name)
		e.className = name;
	fill(e, content);
	return e;
}

export function fill(e, content) {
	if (content === undefined || content === null)
		return e;
	if (Array.isArray(content))
		e.replaceChildren(...content.filter((x) => x !== null && x !== undefined));
	else
		e.textContent = content;
	return e;
}

// A row of buttons of which one is pressed. choices: [value, label]
export function choice(box, choices, onchange) {
	const buttons = choices.map(([value, label, title]) => {
		const b = make('button', '', label);

		b.type = 'button';
		b.dataset.value = value;
		if (title)
			b.title = title;
		b.addEventListener('click', () => onchange(value));
		return b;
	});

	box.replaceChildren(...buttons);
	return (value) => {
		for (const b of buttons)
			b.setAttribute('aria-pressed', String(b.dataset.value === value));
	};
}

export async function copy(text) {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		const area = make('textarea', 'off-screen', text);
		let done = false;

		document.body.append(area);
		area.select();
		try {
			done = document.execCommand('copy');
		} catch {
			done = false;
		}
		area.remove();
		return done;
	}
}
