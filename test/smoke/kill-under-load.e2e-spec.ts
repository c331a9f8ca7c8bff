import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { RuleView } from '@gatehouse/contracts';
import { startHttpOrigin, waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { curl } from '../support/curl.js';
import { requirePeer } from '../support/peers.js';
import { freePorts, LaunchedPlatform, processesOf, temporaryHome, type Ports } from './launched-platform.js';

const WRITERS = 8;
const DOWNLOADERS = 4;
const WANTED_ROWS = 200;

describe('npm start, killed with -9 under load', { timeout: 120_000 }, () => {
  let home: string;
  let ports: Ports;

  beforeAll(async () => {
    home = temporaryHome('gatehouse-kill-');
    ports = await freePorts();
  });

  afterAll(() => rmSync(home, { recursive: true, force: true }));

  const api = (path: string): string => `http://127.0.0.1:${ports.PROXY_GATEWAY_PORT}/api/v1${path}`;

  async function logIn(): Promise<Record<string, string>> {
    const password = readFileSync(join(home, 'first-login.txt'), 'utf8').trim();
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(api('/auth/login'), { method: 'POST', headers, body: JSON.stringify({ password }) });
    const { token } = (await answer.json()) as { token: string };
    return { ...headers, authorization: `Bearer ${token}` };
  }

  /** Adds rules until the service is gone; the payloads of those that it answered with 201. */
  async function addRules(writer: number, headers: Record<string, string>, kept: string[]): Promise<void> {
    for (let count = 0; ; count++) {
      const payload = `w${writer}-${count}.example.com`;
      const body = JSON.stringify({ type: 'DOMAIN', payload, target: 'DIRECT' });
      try {
        const answer = await fetch(api('/rules'), { method: 'POST', headers, body });
        if (answer.status === 201) kept.push(payload);
      } catch {
        return; // the service is gone: what it did not answer may be lost
      }
    }
  }

  it('starts cleanly again, and every confirmed row is there', async (context) => {
    const binary = requirePeer(context, 'curl');
    const first = await new LaunchedPlatform(home, ports).ready();
    const headers = await logIn();
    const origin = await startHttpOrigin();
    const kept: string[] = [];
    const writers = Array.from({ length: WRITERS }, (_, writer) => addRules(writer, headers, kept));
    const proxy = `http://127.0.0.1:${ports.PROXY_KERNEL_PORT}`;
    const downloads = Array.from({ length: DOWNLOADERS }, () =>
      curl(binary, ['-x', proxy, `${origin.url}/bytes/2000000000`]).catch(() => 'cut'),
    );
    await waitFor(() => kept.length >= WANTED_ROWS && origin.requests.length === DOWNLOADERS, { timeoutMs: 60_000 });
    process.kill(first.pid, 'SIGKILL');
    await Promise.all([first.ended, ...writers, ...downloads]);
    await origin.close();

    const next = await new LaunchedPlatform(home, ports).ready();
    const answer = await fetch(api('/rules'), { headers: await logIn() });
    const { items } = (await answer.json()) as { items: RuleView[] };
    const there = new Set(items.map(({ payload }) => payload));
    expect(kept.filter((payload) => !there.has(payload))).toEqual([]);
    await next.stop();
    expect(processesOf(home)).toEqual([]);
  });
});
