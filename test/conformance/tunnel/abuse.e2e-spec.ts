/** Visitors who mean no good: the gateway stays up, others are served as if they were not there. */
import type { Socket } from 'node:net';
import { startHttpOrigin, waitFor, type HttpOrigin } from '@gatehouse/testing';
import { createServerIdentity } from '@gatehouse/tunnel-kernel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askHttp } from '../../support/raw-http.js';
import { END_HEADERS, END_STREAM, H2, h2Frame, hpack, RawHttp2 } from '../../support/raw-http2.js';
import { TunnelYard } from '../../support/tunnel-yard.js';
import { visit } from '../../support/visitors.js';

/** From the connection on: more than a busy machine takes for the first byte of a hundred visitors. */
const HEAD_MS = 1_500;
/** The longest time that others wait during the abuse; generous, for busy machines. */
const OTHERS_MS = 15_000;
const { certificate: chain, key } = createServerIdentity('a.test');
let yard: TunnelYard;
let origin: HttpOrigin;

beforeAll(async () => {
  yard = await TunnelYard.start({ http: { timeouts: { head: HEAD_MS } } });
  origin = await startHttpOrigin();
  const member = await yard.member();
  await yard.apply({ hosts: [yard.host(member, [origin.port], { certificate: { chain, key } })] });
});
afterAll(async () => {
  await yard.close();
  await origin.close();
});

async function othersAreServed(): Promise<void> {
  for (const tls of [false, true]) {
    const from = performance.now();
    expect((await askHttp({ port: tls ? yard.https : yard.http, tls, path: '/other' })).body).toBe('ok');
    expect(performance.now() - from).toBeLessThan(OTHERS_MS);
  }
}

const PSEUDO = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/abuse'],
  [':authority', 'a.test'],
] as const;
const headers = (fields: readonly (readonly [string, string])[], flags = END_STREAM | END_HEADERS): Buffer =>
  h2Frame(H2.headers, flags, 1, hpack(fields));
const window = (bytes: number): Buffer => {
  const body = Buffer.alloc(4);
  body.writeUInt32BE(bytes);
  return body;
};
const reached = (): number => origin.requests.filter(({ url }) => url.startsWith('/abuse')).length;

/** Ends, or says that the stream or the connection is over, or answers 4xx: `:status` 400 is `08 03 '4' ..` or index 12. */
function isRefused(visitor: RawHttp2): boolean {
  return visitor.ended || visitor.has(H2.reset) || visitor.has(H2.goaway) || visitor.has(H2.headers, 1);
}

describe('HTTP/2', () => {
  it('is served when written by hand', async () => {
    const visitor = await RawHttp2.connect(yard.https, 'a.test');
    const before = reached();
    visitor.send(headers(PSEUDO));
    await waitFor(() => visitor.has(H2.data, 1));
    expect(reached()).toBe(before + 1);
    visitor.socket.destroy();
  });

  it.each<[string, Buffer[]]>([
    ['a name in capitals', [headers([...PSEUDO, ['X-Capital', 'x']])]],
    ['Transfer-Encoding', [headers([...PSEUDO, ['transfer-encoding', 'chunked']])]],
    ['Connection', [headers([...PSEUDO, ['connection', 'close']])]],
    ['TE that is not trailers', [headers([...PSEUDO, ['te', 'chunked']])]],
    ['a pseudo field after others', [headers([...PSEUDO.slice(0, 3), ['x', 'y'], [':authority', 'a.test']])]],
    ['a pseudo field twice', [headers([...PSEUDO, [':path', '/abuse2']])]],
    ['an unknown pseudo field', [headers([...PSEUDO, [':x', 'y']])]],
    ['a pseudo field of answers', [headers([...PSEUDO, [':status', '200']])]],
    ['no method', [headers(PSEUDO.slice(1))]],
    ['no path', [headers(PSEUDO.filter(([name]) => name !== ':path'))]],
    ['an empty path', [headers(PSEUDO.map(([name, value]) => [name, name === ':path' ? '' : value] as const))]],
    [
      'a path with a space',
      [headers(PSEUDO.map(([name, value]) => [name, name === ':path' ? '/abuse x' : value] as const))],
    ],
    ['another Host', [headers([...PSEUDO, ['host', 'b.test']])]],
    ['two lengths', [headers([...PSEUDO, ['content-length', '0'], ['content-length', '5']])]],
    ['a length that the body has not', [headers([...PSEUDO, ['content-length', '5']])]],
    ['a stream of even number', [h2Frame(H2.headers, 5, 2, hpack(PSEUDO))]],
    ['fields of no stream', [h2Frame(H2.headers, 5, 0, hpack(PSEUDO))]],
    ['data of a stream that is not open', [h2Frame(H2.data, 0, 1, Buffer.from('x'))]],
    ['a frame that is too long', [h2Frame(H2.data, 0, 1, Buffer.alloc(20_000))]],
    ['settings of seven bytes', [h2Frame(H2.settings, 0, 0, Buffer.alloc(7))]],
    ['a ping of seven bytes', [h2Frame(H2.ping, 0, 0, Buffer.alloc(7))]],
    ['a window of nothing', [h2Frame(H2.window, 0, 0, window(0))]],
    ['a window that overflows', [h2Frame(H2.window, 0, 0, window(0x7f_ff_ff_ff))]],
    ['a continuation of nothing', [h2Frame(H2.continuation, END_HEADERS, 1, hpack(PSEUDO))]],
    ['another frame between fields', [headers(PSEUDO, END_STREAM), h2Frame(H2.ping, 0, 0, Buffer.alloc(8))]],
    ['fields that are no HPACK', [h2Frame(H2.headers, 5, 1, Buffer.from('ff'.repeat(20), 'hex'))]],
  ])('%s does not reach the target', async (_, frames) => {
    const visitor = await RawHttp2.connect(yard.https, 'a.test');
    const before = reached();
    visitor.send(...frames);
    await waitFor(() => isRefused(visitor));
    visitor.socket.destroy();
    await othersAreServed();
    expect(reached()).toBe(before);
  });

  // nghttp2 passes over such fields instead of refusing the request: nobody sees them, neither the gateway nor the origin.
  it.each<[string, [string, string]]>([
    ['an empty name', ['', 'x']],
    ['a name with a space', ['a b', 'x']],
    ['a name with a colon', ['a:b', 'x']],
    ['a value with a line', ['x-bad', 'a\r\nhost: b.test']],
    ['a value with a NUL', ['x-bad', 'a\u0000b']],
  ])('%s is left out', async (_, field) => {
    const visitor = await RawHttp2.connect(yard.https, 'a.test');
    const before = reached();
    visitor.send(headers([...PSEUDO, field, ['x-good', 'y']]));
    await waitFor(() => visitor.has(H2.data, 1));
    expect(reached()).toBe(before + 1);
    const { rawHeaders = [] } = origin.requests.at(-1) ?? {};
    const names = rawHeaders.filter((__, at) => at % 2 === 0).map((name) => name.toLowerCase());
    expect(names.filter((name) => name.startsWith('x-') && !name.startsWith('x-forwarded'))).toEqual(
      expect.arrayContaining(['x-good']),
    );
    expect(names.filter((name) => name === 'host')).toHaveLength(1);
    expect(names.filter((name) => name === field[0] || name === 'a' || name === 'b')).toEqual([]);
    visitor.socket.destroy();
  });

  it('endless header fields (CONTINUATION flood) end the connection', async () => {
    const visitor = await RawHttp2.connect(yard.https, 'a.test');
    visitor.send(headers(PSEUDO, END_STREAM));
    const more = h2Frame(
      H2.continuation,
      0,
      1,
      hpack(Array.from({ length: 60 }, (_, at) => [`x-${at}`, 'y'.repeat(100)])),
    );
    for (let round = 0; round < 200 && !visitor.ended; round++) {
      visitor.send(more);
      await new Promise(setImmediate);
    }
    await waitFor(() => isRefused(visitor));
    visitor.socket.destroy();
    await othersAreServed();
  });

  it('header fields that expand beyond their size (header bomb) are refused', async () => {
    const visitor = await RawHttp2.connect(yard.https, 'a.test');
    const before = reached();
    // One field of 4,000 bytes in the table, and then its number (62) a thousand times.
    const big = Buffer.concat([Buffer.from('40016a7fa11e', 'hex'), Buffer.alloc(4000, 'j')]);
    visitor.send(
      h2Frame(H2.headers, END_STREAM | END_HEADERS, 1, Buffer.concat([hpack(PSEUDO), big, Buffer.alloc(1000, 0xbe)])),
    );
    await waitFor(() => isRefused(visitor));
    expect(reached()).toBe(before);
    visitor.socket.destroy();
    await othersAreServed();
  });

  it('streams that are opened and reset at once (rapid reset) end the connection', async () => {
    const visitor = await RawHttp2.connect(yard.https, 'a.test');
    const fields = hpack(PSEUDO.map(([name, value]) => [name, name === ':path' ? '/hang' : value] as const));
    let stream = 1;
    for (let round = 0; round < 60 && !visitor.ended; round++) {
      for (let at = 0; at < 100; at++, stream += 2) {
        visitor.send(h2Frame(H2.headers, 5, stream, fields), h2Frame(H2.reset, 0, stream, Buffer.of(0, 0, 0, 8)));
      }
      await othersAreServed();
    }
    await waitFor(() => visitor.ended || visitor.has(H2.goaway));
    visitor.socket.destroy();
    await waitFor(() => yard.server.flows === 0);
  });

  it('endless pings and settings slow nobody down', async () => {
    const visitor = await RawHttp2.connect(yard.https, 'a.test');
    const flood = Buffer.concat(
      Array.from({ length: 500 }, () => [h2Frame(H2.ping, 0, 0, Buffer.alloc(8)), h2Frame(H2.settings, 0, 0)]).flat(),
    );
    // Answers are not read.
    visitor.socket.pause();
    for (let round = 0; round < 20 && !visitor.ended; round++) {
      visitor.send(flood);
      await othersAreServed();
    }
    visitor.socket.destroy();
  });
});

describe('slow visitors', () => {
  const COUNT = 100;
  const connectAll = (): Promise<Socket[]> => Promise.all(Array.from({ length: COUNT }, () => visit(yard.http)));

  it('are disconnected in time while they send the head', async () => {
    const sockets = await connectAll();
    let open = COUNT;
    for (const socket of sockets) {
      socket.resume().on('close', () => (open -= 1));
      socket.on('end', () => socket.destroy());
      socket.write('GET / HTTP/1.1\r\nHost: a.test\r\n');
    }
    const drip = setInterval(() => sockets.forEach((socket) => socket.writable && socket.write('X: y\r\n')), 100);
    await othersAreServed();
    await waitFor(() => open === 0, { timeoutMs: HEAD_MS + 8_000 });
    clearInterval(drip);
  });

  it('delay nobody else and leave nothing behind while they send a body or read', async () => {
    const slow = await connectAll();
    for (const [at, socket] of slow.entries()) {
      socket.pause();
      if (at % 2 === 0) socket.write('POST /echo HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1000000\r\n\r\nx');
      else socket.write('GET /bytes/8000000 HTTP/1.1\r\nHost: a.test\r\n\r\n');
    }
    // Both ends of all of them, and what they carry, are this one process.
    await waitFor(() => yard.server.flows >= COUNT, { timeoutMs: 40_000 });
    const memory = process.memoryUsage().rss;
    for (let round = 0; round < 4; round++) await othersAreServed();
    expect(process.memoryUsage().rss - memory).toBeLessThan(300 << 20);
    for (const socket of slow) socket.destroy();
    await waitFor(() => yard.server.flows === 0);
  }, 60_000);
});
