// cache.js - a cache that only grows, in JavaScript: what the README shows a picture of.
// SPDX-License-Identifier: Apache-2.0

const cache = new Map();

function render(page) {
	return Buffer.alloc(64 * 1024, `page ${page}`);
}

function store(page) {
	cache.set(page, render(page));
}

function serve(requests) {
	for (let i = 0; i < requests; i++)
		store(i);
}

serve(400);
