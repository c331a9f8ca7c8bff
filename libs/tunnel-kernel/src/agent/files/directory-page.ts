import type { Dirent } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { VisitorWords } from '../../messages/index.js';
import { escapeHtml } from '../../pages/visitor-page.js';

const MAX_ENTRIES = 2000;
/** Concurrent requests to the file system: it has few threads, which files need, too. */
const AT_ONCE = 32;

const STYLE = `:root{color-scheme:light dark}
body{font:16px/1.6 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}
h1{font-size:1.5rem;overflow-wrap:anywhere}
table{width:100%;border-collapse:collapse}
th,td{padding:.3rem 1.5rem .3rem 0;text-align:left;border-bottom:1px solid #8884}
th{font-weight:600}
:is(th,td):first-child{width:100%;overflow-wrap:anywhere}
:is(th,td):nth-child(2){text-align:right}
:is(th,td):nth-child(n+2){white-space:nowrap;font-variant-numeric:tabular-nums}
@media (max-width:36rem){:is(th,td):nth-child(3){display:none}}`;

/** A page that lists a directory, folders first, in the language of `words`. */
export async function directoryPage(path: string, shown: string, words: VisitorWords): Promise<string> {
  const { entries, more } = await readSome(path);
  const rows: string[] = [];
  for (let at = 0; at < entries.length; at += AT_ONCE) {
    rows.push(...(await Promise.all(entries.slice(at, at + AT_ONCE).map((entry) => row(path, entry, words)))));
  }
  const parent = words.text('folder.up');
  const up = shown === '/' ? '' : `<tr><td><a href="../" aria-label="${parent}" title="${parent}">../</a><td><td>\n`;
  const note = more
    ? words.text('folder.cut', { count: MAX_ENTRIES })
    : rows.length === 0
      ? words.text('folder.empty')
      : '';
  const title = escapeHtml(shown);
  return `<!doctype html>
<html lang="${words.language}"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
<h1>${title}</h1>
<table>
<tr><th>${words.text('folder.name')}<th>${words.text('folder.size')}<th>${words.text('folder.modified')}
${up}${rows.join('')}</table>${note === '' ? '' : `<p>${note}</p>`}
`;
}

async function readSome(path: string): Promise<{ entries: Dirent[]; more: boolean }> {
  const entries: Dirent[] = [];
  // Leaving the loop closes the directory.
  for await (const entry of await opendir(path)) {
    if (entries.length === MAX_ENTRIES) return { entries: sorted(entries), more: true };
    entries.push(entry);
  }
  return { entries: sorted(entries), more: false };
}

function sorted(entries: Dirent[]): Dirent[] {
  return entries.sort(
    (a, b) => Number(b.isDirectory()) - Number(a.isDirectory()) || (a.name < b.name ? -1 : Number(a.name > b.name)),
  );
}

async function row(path: string, entry: Dirent, { language }: VisitorWords): Promise<string> {
  const facts = await stat(join(path, entry.name)).catch(() => null);
  const isDirectory = facts?.isDirectory() ?? entry.isDirectory();
  const name = isDirectory ? `${entry.name}/` : entry.name;
  const size = facts && !isDirectory ? facts.size.toLocaleString(language) : '';
  const changed = facts ? facts.mtime.toISOString().slice(0, 16).replace('T', ' ') : '';
  // A name with a colon would be read as a scheme.
  const link = `./${encodeURIComponent(entry.name)}${isDirectory ? '/' : ''}`;
  return `<tr><td><a href="${link}">${escapeHtml(name)}</a><td>${size}<td>${changed}\n`;
}
