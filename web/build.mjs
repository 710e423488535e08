// build.mjs - bundles src/ into one file: dist/report.html, or the file named.
// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, 'dist', 'report.html');
const PLACE = '@SEEP-DATA@';

async function bundle(entry) {
	const result = await build({
		entryPoints: [join(here, 'src', entry)],
		absWorkingDir: here,
		bundle: true,
		minify: true,
		write: false,
		format: 'iife',
		target: ['chrome109', 'firefox115', 'safari16.4'],
		charset: 'utf8',
		legalComments: 'none', // notices stand in full at the top of the page
	});

	return result.outputFiles[0].text.trim();
}

// The policy names what may run by its hash: nothing in the data can join it.
function hash(text) {
	return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

function fill(template, parts) {
	return template.replace(/@([A-Z]+)@/g, (all, name) => {
		if (!(name in parts))
			throw new Error(`src/page.html: nobody knows @${name}@`);
		return parts[name];
	});
}

const script = await bundle('main.js');
const style = await bundle('style.css');
const notice = readFileSync(
	join(here, 'node_modules', 'uplot', 'LICENSE'), 'utf8');
const page = fill(readFileSync(join(here, 'src', 'page.html'), 'utf8'), {
	SCRIPT: script,
	STYLE: style,
	SCRIPTHASH: hash(script),
	STYLEHASH: hash(style),
	UPLOT: notice.replaceAll('\r', '').replaceAll('--', '- -').trim(),
});

if (page.split(PLACE).length !== 2)
	throw new Error(`${PLACE} must be there once`);
if (/https?:\/\//.test(script + style))
	throw new Error('the bundle names an address of the network');
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, page);
