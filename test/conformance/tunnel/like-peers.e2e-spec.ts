/** What nginx and Caddy make of requests that are allowed but rare, and the gateway with them. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createServerIdentity } from '@gatehouse/tunnel-kernel';
import { findPeer } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requirePeer } from '../../support/peers.js';
import { Programs } from '../../support/processes.js';
import { RecordingOrigin } from '../../support/recording-origin.js';
import { TunnelYard } from '../../support/tunnel-yard.js';

const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-like-peers-'));
const programs = new Programs();
const ports: Partial<Record<'gateway' | 'nginx' | 'caddy', number>> = {};
let yard: TunnelYard;
let origin: RecordingOrigin;

beforeAll(async () => {
  const { certificate, key } = createServerIdentity('a.test');
  yard = await TunnelYard.start({ http: { defaultCertificate: { chain: certificate, key } } });
  origin = await RecordingOrigin.start();
  await yard.apply({ hosts: [yard.host(await yard.member(), [origin.port])] });
  ports.gateway = yard.http;
  const [nginx, caddy] = [findPeer('nginx'), findPeer('caddy')];
  if (nginx !== undefined) ports.nginx = await programs.start(nginx, nginxBefore);
  if (caddy !== undefined) ports.caddy = await programs.start(caddy, caddyBefore);
});
afterAll(async () => {
  await yard.close();
  origin.close();
  await programs.stopAll();
  rmSync(folder, { recursive: true });
});

function nginxBefore(port: number): string[] {
  const file = path.join(folder, `nginx-${port}.conf`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join(' ');
  writeFileSync(
    file,
    `${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off; master_process off; pid ${folder}/nginx.pid; events { worker_connections 64; }
http { access_log off; ${temporary}
  server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${origin.port}; proxy_http_version 1.1; } } }
`,
  );
  return ['-p', folder, '-e', path.join(folder, 'error.log'), '-c', file];
}

function caddyBefore(port: number): string[] {
  const file = path.join(folder, `caddy-${port}.json`);
  const route = { handle: [{ handler: 'reverse_proxy', upstreams: [{ dial: `127.0.0.1:${origin.port}` }] }] };
  const server = { listen: [`127.0.0.1:${port}`], routes: [route], automatic_https: { disable: true } };
  const admin = { disabled: true, config: { persist: false } };
  writeFileSync(file, JSON.stringify({ admin, apps: { http: { servers: { s: server } } } }));
  return ['run', '--config', file];
}

interface Seen {
  status: number;
  /** What the origin was asked for. */
  target: string | undefined;
}

/** Sends the bytes and reads the status; `text` has a character for each byte. */
async function ask(port: number, text: string): Promise<Seen> {
  const from = origin.requests.length;
  const status = await new Promise<number>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1').on('error', reject);
    let read = '';
    socket.on('data', (part: Buffer) => {
      read += part.toString('latin1');
      const said = /^HTTP\/1\.1 ([2-5]\d\d)/.exec(read)?.[1];
      if (said !== undefined) resolve(Number(said));
      if (said !== undefined) socket.destroy();
    });
    socket.on('close', () => resolve(0));
    socket.write(text, 'latin1');
  });
  return { status, target: origin.requests[from]?.target };
}

const bytes = (text: string): string => Buffer.from(text).toString('latin1');
const get = (target: string): string => `GET ${target} HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n`;
const post = (coding: string): string =>
  `POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: ${coding}\r\nConnection: close\r\n\r\n0\r\n\r\n`;

describe('as before a real nginx and a real Caddy', () => {
  it('UTF-8 in a path is escaped as by Caddy, over HTTP/2 alone: the parser of HTTP/1 refuses it', async (context) => {
    for (const peer of ['nginx', 'caddy']) requirePeer(context, peer);
    const request = get(bytes('/café/日本'));
    const { gateway, nginx, caddy } = ports;
    expect((await ask(nginx!, request)).status).toBe(200);
    const likeCaddy = await ask(caddy!, request);
    expect(likeCaddy).toEqual({ status: 200, target: '/caf%C3%A9/%E6%97%A5%E6%9C%AC' });
    const session = connectHttp2(`https://127.0.0.1:${yard.https}`, { rejectUnauthorized: false });
    try {
      const from = origin.requests.length;
      const stream = session.request({ ':authority': 'a.test', ':path': bytes('/café/日本') }).resume();
      const [{ ':status': status }] = (await once(stream, 'response')) as [IncomingHttpHeaders];
      expect({ status, target: origin.requests[from]?.target }).toEqual(likeCaddy);
    } finally {
      session.destroy();
    }
    expect(await ask(gateway!, request)).toEqual({ status: 400, target: undefined });
  });

  it('a transfer coding under chunked is not implemented', async (context) => {
    for (const peer of ['nginx', 'caddy']) requirePeer(context, peer);
    for (const coding of ['gzip, chunked', 'deflate, chunked', 'gzip']) {
      const statuses = [];
      for (const port of [ports.nginx!, ports.caddy!, ports.gateway!]) statuses.push(await ask(port, post(coding)));
      expect(statuses).toEqual([501, 501, 501].map((status) => ({ status, target: undefined })));
    }
  });
});
