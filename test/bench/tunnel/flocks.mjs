// Many agents in processes of their own, and waiting for them.
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startScript } from '../processes.mjs';

export const here = (name) => fileURLToPath(new URL(name, import.meta.url));
/** Agents of one process. */
const FLOCK = 2_500;
const PATIENCE_MS = 300_000;
export const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-flock-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** `host` and `addresses`: the name that agents connect to and what it resolves to. Default: this machine. */
export async function startFlocks({ door, keys, bare, host, addresses }) {
  const flocks = [];
  for (let at = 0; at < keys.length; at += FLOCK) {
    const file = path.join(folder, `${door}-${at}.json`);
    const part = { door, bare, host, addresses, keys: keys.slice(at, at + FLOCK) };
    writeFileSync(file, JSON.stringify(part), { mode: 0o600 });
    const { child } = await startScript(here('flock.mjs'), [file]);
    const flock = { child, online: 0, arrivals: [] };
    child.on('message', ({ online: count, arrivals }) => {
      flock.online = count;
      flock.arrivals.push(...arrivals);
    });
    flocks.push(flock);
  }
  return flocks;
}

export const online = (flocks) => flocks.reduce((sum, flock) => sum + flock.online, 0);

export async function until(what, holds) {
  const from = Date.now();
  while (!holds()) {
    if (Date.now() - from > PATIENCE_MS) throw new Error(`not within ${PATIENCE_MS} ms: ${what()}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** What a server holds after a collection. */
export async function look(server) {
  server.child.send('look');
  for (;;) {
    const [message] = await once(server.child, 'message');
    if ('rss' in message) return message;
  }
}
