import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createServerIdentity, type HostConfig } from '@gatehouse/tunnel-kernel';
import { findPeer, waitFor } from '@gatehouse/testing';
import { afterAll, afterEach, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { requirePeer } from '../support/peers.js';
import { Programs } from '../support/processes.js';
import { Tunnel } from '../support/tunnel.js';
import { NginxOrigin } from '../support/web-origin.js';

const run = promisify(execFile);
const programs = new Programs();
const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-hosts-'));
const { certificate, key } = createServerIdentity('a.test');
let tunnel: Tunnel;
let http = 0;
let https = 0;
let origin: NginxOrigin | undefined;

beforeEach(async () => {
  tunnel = await Tunnel.start();
  http = await tunnel.server.listenHttp({ host: '127.0.0.1', port: 0 });
  https = await tunnel.server.listenHttps({ host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  await tunnel.close();
  await programs.stopAll();
  origin?.[Symbol.dispose]();
  origin = undefined;
});
afterAll(() => rmSync(folder, { recursive: true }));

async function serve(port: number): Promise<void> {
  const host: HostConfig = {
    id: 1,
    clientId: 1,
    host: 'a.test',
    location: '/',
    scheme: 'all',
    targets: [{ host: '127.0.0.1', port, weight: 1, scheme: 'http', insecure: false }],
    certificate: { chain: certificate, key },
    redirectToHttps: false,
    rewriteHost: null,
    requestHeaders: {},
    responseHeaders: {},
  };
  await tunnel.open(1, {}, { hosts: [host] });
}

async function nginx(context: TestContext): Promise<NginxOrigin> {
  requirePeer(context, 'nginx');
  origin = await NginxOrigin.start(programs, findPeer('nginx')!);
  await serve(origin.port);
  return origin;
}

/** What curl prints, asked for `a.test`. */
async function curl(context: TestContext, args: string[]): Promise<string> {
  const resolve = ['--resolve', `a.test:${http}:127.0.0.1`, '--resolve', `a.test:${https}:127.0.0.1`];
  const options = { encoding: 'latin1', maxBuffer: 64 * 1024 * 1024 } as const;
  const { stdout } = await run(
    requirePeer(context, 'curl'),
    ['-sS', '-k', '--max-time', '30', ...resolve, ...args],
    options,
  );
  return stdout;
}

describe('a host before a real nginx', () => {
  it('gives curl the requested file over every version of HTTP', async (context) => {
    const server = await nginx(context);
    const content = randomBytes(3_000_000);
    server.write('big', content);
    for (const [version, url] of [
      ['--http1.0', `http://a.test:${http}`],
      ['--http1.1', `http://a.test:${http}`],
      ['--http1.1', `https://a.test:${https}`],
      ['--http2', `https://a.test:${https}`],
    ] as const) {
      const body = await curl(context, [version, `${url}/big`]);
      expect(Buffer.from(body, 'latin1').equals(content)).toBe(true);
      const range = await curl(context, [version, '-r', '1000-1099', '-w', '%{http_code}', `${url}/big`]);
      expect(range).toBe(`${content.toString('latin1', 1000, 1100)}206`);
      expect(await curl(context, [version, '-I', `${url}/big`])).toMatch(/content-length: 3000000/i);
      expect(await curl(context, [version, '-o', '/dev/null', '-w', '%{http_code}', `${url}/none`])).toBe('404');
    }
    expect(
      await curl(context, ['--http2', '-o', '/dev/null', '-w', '%{http_version}', `https://a.test:${https}/big`]),
    ).toBe('2');
    // One after the other over one connection, and several at a time over one more.
    const many = Array.from({ length: 20 }, (_, at) => `https://a.test:${https}/big?${at}`);
    const sizes = await curl(context, [
      '--http2',
      '-Z',
      '-w',
      '%{size_download}\n',
      ...many.flatMap((url) => ['-o', '/dev/null', url]),
    ]);
    expect(sizes.trim().split('\n')).toEqual(Array.from({ length: 20 }, () => '3000000'));
  });

  it('never passes bytes of one request to the next', async (context) => {
    const server = await nginx(context);
    server.write('index.html', 'fine');
    const hidden = 'GET /hidden HTTP/1.1\r\nHost: a.test\r\n\r\n';
    const chunked = `0\r\n\r\n${hidden}`;
    const body = (fields: string, rest: string): string =>
      `POST /outer HTTP/1.1\r\nHost: a.test\r\n${fields}\r\n\r\n${rest}`;
    const attempts = [
      body(`Content-Length: ${chunked.length}\r\nTransfer-Encoding: chunked`, chunked),
      body('Transfer-Encoding: chunked\r\nContent-Length: 4', chunked),
      body(`Content-Length: ${chunked.length}\r\nTransfer-Encoding: xchunked`, chunked),
      body(`Content-Length: ${chunked.length}\r\nTransfer_Encoding: chunked`, chunked),
      body(`Content-Length: ${chunked.length}\r\nTransfer-Encoding : chunked`, chunked),
      body(`Content-Length: ${chunked.length}\r\nTransfer-Encoding:\u000bchunked`, chunked),
      body(`Content-Length: ${chunked.length}\r\nX: x\nTransfer-Encoding: chunked`, chunked),
      body(`Content-Length: ${chunked.length}\r\nX: x\rTransfer-Encoding: chunked`, chunked),
      body(`Content-Length: ${chunked.length}\r\n Transfer-Encoding: chunked`, chunked),
      body(`Content-Length: ${chunked.length}\r\nTransfer-Encoding: identity`, chunked),
      body('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', chunked),
      body('Content-Length: 0\r\nContent-Length: 40', hidden),
      body(`Content-Length: ${hidden.length}\r\nConnection: Content-Length`, hidden),
      body(`Content-Length: ${hidden.length}\r\nExpect: 100-continue`, hidden),
      body(`Content-Length: ${hidden.length}\r\nConnection: Upgrade\r\nUpgrade: websocket`, hidden),
      `GET /outer\r\nHost: a.test\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
      `GET /outer HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
      `POST /outer HTTP/1.0\r\nHost: a.test\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`,
      `GET /outer HTTP/1.1\r\nHost: a.test\r\nX: ${encodeURI('\r\n')}\r\nX\u0000: y\r\n\r\n`,
      body('Transfer-Encoding: chunked', `5;\n${hidden.slice(0, 5)}\r\n${chunked}`),
      body('Transfer-Encoding: chunked', `-1\r\n${chunked}`),
      body('Transfer-Encoding: chunked', `0x5\r\nhello\r\n${chunked}`),
      body('Transfer-Encoding: chunked', `fffffffffffffffff\r\n${chunked}`),
    ];
    const answers: number[] = [];
    for (const text of attempts) {
      const socket = connect(http, '127.0.0.1');
      socket.on('error', () => undefined);
      let read = '';
      let closed = false;
      socket.on('close', () => (closed = true));
      socket.on('data', (part) => (read += part.toString('latin1')));
      socket.write(text, 'latin1');
      // Another visitor's request, which must get its own answer and no other.
      const other = await curl(context, [`http://a.test:${http}/?other`]);
      expect(other).toBe('fine');
      await waitFor(() => closed || read !== '');
      socket.destroy();
      answers.push((read.match(/HTTP\/1\.1 [2-5]\d\d/g) ?? []).length);
    }
    // A second request is the visitor's own only where the first one ends before it by every reading.
    const seen = server.log().map(({ uri }) => uri);
    expect(seen.filter((uri) => uri === '/hidden')).toEqual([]);
    expect(Math.max(...answers)).toBe(1);
  });
});

describe('a host before a real haproxy', () => {
  it('keeps connections open between requests', async (context) => {
    const haproxy = requirePeer(context, 'haproxy');
    const port = await programs.start(haproxy, (candidate) => {
      const file = path.join(folder, `haproxy-${candidate}.cfg`);
      writeFileSync(
        file,
        `defaults
  mode http
  timeout client 10s
frontend f
  bind 127.0.0.1:${candidate}
  http-request return status 200 content-type text/plain lf-string "%[req.hdr(x-forwarded-for)] %[path] %[req.hdr(host)] %fc"
`,
      );
      return ['-f', file];
    });
    await serve(port);
    const bodies: string[] = [];
    for (const at of [1, 2, 3]) bodies.push(await curl(context, ['--http2', `https://a.test:${https}/${at}`]));
    expect(bodies.map((body) => body.split(' ').slice(0, 3).join(' '))).toEqual(
      [1, 2, 3].map((at) => `127.0.0.1 /${at} a.test:${https}`),
    );
  });
});
