import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ensure, type Attack } from './attack.js';

/** Attacks that every service has to stand, and what lies on the disk. */
export function commonAttacks(services: readonly { name: string; url: string }[], home: string): Attack[] {
  return [
    { name: 'figures of the processes for every stranger', run: () => readMetrics(services) },
    { name: 'a stack trace for bad input', run: () => provoke(services) },
    { name: 'secrets on the disk for other users of the machine', run: async () => lookAtFiles(home) },
  ];
}

async function readMetrics(services: readonly { name: string; url: string }[]): Promise<string> {
  for (const { name, url } of services) {
    // As a proxy on this machine passes a stranger's request on: programs on the machine itself may read the metrics.
    const headers = { 'x-forwarded-for': '192.0.2.7' };
    const answer = await fetch(`${url}/metrics`, { headers, signal: AbortSignal.timeout(30_000) });
    const text = await answer.text();
    ensure(answer.status >= 400 || !text.includes('process_cpu'), `${name} shows its metrics on its public port`);
  }
  return 'strangers behind a proxy get none';
}

const PROVOCATIONS: readonly RequestInit[] = [
  { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' },
  { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"__proto__":{"a":1}}' },
  { method: 'POST', headers: { 'content-type': 'application/json' }, body: '['.repeat(10_000) },
  { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: '\u0000' },
  { headers: { authorization: `Bearer ${'a'.repeat(5_000)}` } },
  { headers: { authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.' } },
];

async function provoke(services: readonly { name: string; url: string }[]): Promise<string> {
  let asked = 0;
  for (const { name, url } of services) {
    for (const path of ['/api/v1/auth/login', '/api/site/login', '/api/v1/settings', '/nope']) {
      for (const init of PROVOCATIONS) {
        const answer = await fetch(url + path, { ...init, signal: AbortSignal.timeout(30_000) });
        const text = await answer.text();
        asked += 1;
        ensure(answer.status < 500, `${name} answers ${path} with ${answer.status}`);
        ensure(!/\n\s+at |node_modules|\/dist\//.test(text), `${name} shows a stack trace at ${path}`);
      }
    }
  }
  return `${asked} bad requests, each answered with a clear error`;
}

const PRIVATE = /^(secret\.key|first-login\.txt|state\.json|demo\.json|setup-token\.txt|postgres\.json)$/;

function lookAtFiles(home: string): string {
  if (process.platform === 'win32') return 'left out: Windows has other permissions';
  let looked = 0;
  for (const name of readdirSync(home).filter((file) => PRIVATE.test(file))) {
    const mode = statSync(join(home, name)).mode & 0o777;
    looked += 1;
    ensure((mode & 0o077) === 0, `${name} of the home has mode ${mode.toString(8)}`);
  }
  ensure(looked > 0, `there is nothing in ${home}`);
  return `${looked} private files, none readable by others`;
}
