import type { Dirent } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const MAX_ENTRIES = 2000;
/** Concurrent requests to the file system: it has few threads, which files need, too. */
const AT_ONCE = 32;

/** A page that lists a directory, folders first. */
export async function directoryPage(path: string, shown: string): Promise<string> {
  const { entries, more } = await readSome(path);
  const rows: string[] = [];
  for (let at = 0; at < entries.length; at += AT_ONCE) {
    rows.push(...(await Promise.all(entries.slice(at, at + AT_ONCE).map((entry) => row(path, entry)))));
  }
  const up = shown === '/' ? '' : '<tr><td><a href="../">../</a><td><td>\n';
  const cut = more ? `<p>The first ${MAX_ENTRIES} entries are shown.</p>` : '';
  const title = escape(shown);
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>body{font:16px/1.6 system-ui;margin:2rem auto;max-width:60rem;padding:0 1rem;color-scheme:light dark}
td{padding:0 1.5rem 0 0}td:nth-child(2){text-align:right;font-variant-numeric:tabular-nums}</style>
<h1>${title}</h1>
<table>
${up}${rows.join('')}</table>${cut}
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

async function row(path: string, entry: Dirent): Promise<string> {
  const facts = await stat(join(path, entry.name)).catch(() => null);
  const isDirectory = facts?.isDirectory() ?? entry.isDirectory();
  const name = isDirectory ? `${entry.name}/` : entry.name;
  const size = facts && !isDirectory ? facts.size.toLocaleString('en') : '';
  const changed = facts ? facts.mtime.toISOString().slice(0, 16).replace('T', ' ') : '';
  // A name with a colon would be read as a scheme.
  const link = `./${encodeURIComponent(entry.name)}${isDirectory ? '/' : ''}`;
  return `<tr><td><a href="${link}">${escape(name)}</a><td>${size}<td>${changed}\n`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
