/** What origins see is what the gateway decided: one request of a visitor is one request of an origin, read in one way. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { findPeer, waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requirePeer } from '../../support/peers.js';
import { Programs } from '../../support/processes.js';
import { askHttp } from '../../support/raw-http.js';
import { RecordingOrigin } from '../../support/recording-origin.js';
import { TunnelYard } from '../../support/tunnel-yard.js';
import { NginxOrigin } from '../../support/web-origin.js';
import { HIDDEN, REQUESTS, type RequestCase } from './requests.js';

const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-front-door-'));
const programs = new Programs();
let yard: TunnelYard;
let origin: RecordingOrigin;
let nginx: NginxOrigin | undefined;

beforeAll(async () => {
  yard = await TunnelYard.start();
  origin = await RecordingOrigin.start();
  const member = await yard.member();
  const hosts = [yard.host(member, [origin.port])];
  const [nginxProgram, haproxyProgram] = [findPeer('nginx'), findPeer('haproxy')];
  if (nginxProgram !== undefined) {
    nginx = await NginxOrigin.start(programs, nginxProgram);
    hosts.push(yard.host(member, [nginx.port], { id: 12, host: 'n.test' }));
  }
  if (haproxyProgram !== undefined) {
    const port = await programs.start(haproxyProgram, (candidate) => haproxy(candidate, origin.port));
    hosts.push(yard.host(member, [port], { id: 13, host: 'h.test' }));
  }
  await yard.apply({ hosts });
});
afterAll(async () => {
  await yard.close();
  origin.close();
  await programs.stopAll();
  nginx?.[Symbol.dispose]();
  rmSync(folder, { recursive: true });
});

/** One that passes everything on, over connections that it keeps. */
function haproxy(port: number, target: number): string[] {
  const file = path.join(folder, `haproxy-${port}.cfg`);
  writeFileSync(
    file,
    `defaults
  mode http
  timeout client 5s
  timeout server 5s
  timeout connect 5s
  http-reuse always
frontend f
  bind 127.0.0.1:${port}
  default_backend b
backend b
  server s 127.0.0.1:${target}
`,
  );
  return ['-f', file];
}

interface Sent {
  answers: number[];
  /** By the number that the origin gave them. */
  served: string[];
  closed: boolean;
}

/** Sends a case and waits for as many answers as there are to be. */
async function send({ text, requests, open }: RequestCase, host: string): Promise<Sent> {
  const socket = connect(yard.http, '127.0.0.1');
  let read = '';
  let closed = false;
  socket.on('error', () => undefined).on('close', () => (closed = true));
  socket.on('data', (part) => (read += part.toString('latin1')));
  socket.write(text.replaceAll('a.test', host), 'latin1');
  const statuses = (): number[] => [...read.matchAll(/HTTP\/1\.1 ([2-5]\d\d)/g)].map(([, status]) => Number(status));
  if (!open) await waitFor(() => closed || (requests > 0 && statuses().length > requests));
  // Whatever was on its way is there when another visitor has an answer.
  await askHttp({ port: yard.http, host, path: '/other' });
  const served = [...read.matchAll(/x-served: (\d+)/gi)].map(([, id]) => id ?? '');
  socket.destroy();
  return { answers: statuses(), served, closed };
}

describe.each([
  ['an origin that reads by the letter', 'a.test', null],
  ['a real haproxy before that origin', 'h.test', 'haproxy'],
] as const)('before %s', (_, host, peer) => {
  it.for(REQUESTS.map((one) => [one.name, one] as const))('%s', async ([, one], context) => {
    if (peer !== null) requirePeer(context, peer);
    const from = origin.requests.length;
    const doubts = origin.doubts.length;
    const { answers, served, closed } = await send(one, host);
    const seen = origin.requests
      .map((request, at) => ({ ...request, id: String(at + 1) }))
      .slice(from)
      .filter(({ target }) => target !== '/other');
    expect(origin.doubts.slice(doubts)).toEqual([]);
    expect(seen.map(({ method, target }) => `${method} ${target}`)).toHaveLength(one.requests);
    expect(seen.filter(({ target }) => target.includes(HIDDEN))).toEqual([]);
    // Each answer of the origin went to who asked, and nothing else did.
    expect(new Set(served)).toEqual(new Set(seen.map(({ id }) => id)));
    const own = answers.filter((status) => status >= 400);
    expect(own.length).toBeLessThanOrEqual(one.open ? 0 : 1);
    // Of a body that is none the gateway learns when the head has gone on: that connection ends without a word.
    if (one.requests === 0) expect(own.length === 1 || closed).toBe(!one.open);
    for (const { fields } of seen) {
      const names = fields.map(([name]) => name);
      expect(names.filter((name) => /_|^(?:upgrade|http2-settings|te|token|keep-alive)$/.test(name))).toEqual([]);
    }
  });
});

describe('before a real nginx', () => {
  it('each of them is at most one request, and hides no other', async (context) => {
    requirePeer(context, 'nginx');
    const counted: [string, number][] = [];
    for (const one of REQUESTS) {
      const before = nginx?.log().length ?? 0;
      const { answers } = await send(one, 'n.test');
      await nginx?.untilLogged();
      const log = (nginx?.log() ?? []).slice(before).filter(({ uri }) => uri !== '/other');
      expect(log.filter(({ uri }) => uri.includes(HIDDEN))).toEqual([]);
      if (log.length > Math.max(1, one.requests) || answers.length > Math.max(1, one.requests) + 1) {
        counted.push([one.name, log.length]);
      }
    }
    expect(counted).toEqual([]);
  }, 120_000);
});
