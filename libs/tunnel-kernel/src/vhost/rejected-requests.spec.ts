import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HostRig } from '../../test/host-rig.js';
import { waitFor } from '@gatehouse/testing';

let rig: HostRig;
/** What the target got, request by request. */
const seen: { method: string; url: string; fields: string[]; body: string }[] = [];

beforeAll(async () => {
  rig = await HostRig.start();
  const port = await rig.origin((request, response) => {
    let body = '';
    request.setEncoding('latin1');
    request.on('data', (part: string) => (body += part));
    request.on('end', () => {
      seen.push({ method: request.method ?? '', url: request.url ?? '', fields: request.rawHeaders, body });
      response.end(`served ${request.url}`);
    });
  });
  await rig.serve(
    rig.hostConfig([port]),
    rig.hostConfig([port], { id: 13, host: 'paths.test', location: '/' }),
    rig.hostConfig([port], { id: 14, host: 'paths.test', location: '/admin' }),
  );
});
beforeEach(() => {
  seen.length = 0;
});
afterAll(() => rig.close());

function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
}

function names(fields: string[]): string[] {
  return fields.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
}

const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: a.test\r\n\r\n';

describe('an ambiguous request', () => {
  it.each([
    [
      'HTTP/0.9 with fields and a body',
      `GET /x\r\nHost: a.test\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
    ],
    ['HTTP/0.9 with line feeds', `GET /x\nHost: a.test\nContent-Length: 5\n\nhello`],
    ['HTTP/2.0 in text', 'GET / HTTP/2.0\r\nHost: a.test\r\n\r\n'],
    ['HTTP/1.2', 'GET / HTTP/1.2\r\nHost: a.test\r\n\r\n'],
    ['Transfer-Encoding in HTTP/1.0', 'POST / HTTP/1.0\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    [
      'length and chunks',
      'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nhello'],
    ['the same length twice', 'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello'],
    ['a list of lengths', 'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5, 5\r\n\r\nhello'],
    ['a length with a sign', 'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: +5\r\n\r\nhello'],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n'],
    ['no Host in HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n'],
    ['two Hosts', 'GET / HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n'],
    ['the same Host twice', 'GET / HTTP/1.1\r\nHost: a.test\r\nHost: a.test\r\n\r\n'],
    ['a Host that is none', 'GET / HTTP/1.1\r\nHost: a.test/x\r\n\r\n'],
    ['a Host with user information', 'GET / HTTP/1.1\r\nHost: a.test@b.test\r\n\r\n'],
    ['an absolute target of another host', 'GET http://b.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n'],
    ['an absolute target with user information', 'GET http://x@a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n'],
    ['another scheme', 'GET ftp://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n'],
    ['a target without a slash', 'GET x HTTP/1.1\r\nHost: a.test\r\n\r\n'],
    ['a target of all', 'OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n'],
    ['a fragment', 'GET /x#y HTTP/1.1\r\nHost: a.test\r\n\r\n'],
    ['a backslash', 'GET /x\\y HTTP/1.1\r\nHost: a.test\r\n\r\n'],
    ['a byte beyond ASCII', 'GET /\u00e9 HTTP/1.1\r\nHost: a.test\r\n\r\n'],
    ['a control character', 'GET /\u0001 HTTP/1.1\r\nHost: a.test\r\n\r\n'],
    ['a tab', 'GET /a\tb HTTP/1.1\r\nHost: a.test\r\n\r\n'],
    ['an escaped NUL', 'GET /%00 HTTP/1.1\r\nHost: a.test\r\n\r\n'],
    ['an escape that is none', 'GET /%zz HTTP/1.1\r\nHost: a.test\r\n\r\n'],
    ['a path that leaves the root', 'GET /a/../../b HTTP/1.1\r\nHost: a.test\r\n\r\n'],
    ['an escaped slash where locations decide', 'GET /x%2f..%2fadmin HTTP/1.1\r\nHost: paths.test\r\n\r\n'],
    ['an escaped backslash where locations decide', 'GET /x%5cadmin HTTP/1.1\r\nHost: paths.test\r\n\r\n'],
    ['Connection that names Host', 'GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close, Host\r\n\r\n'],
    [
      'Connection that names Authorization',
      'GET / HTTP/1.1\r\nHost: a.test\r\nAuthorization: x\r\nConnection: authorization\r\n\r\n',
    ],
    ['Connection that names X-Forwarded-For', 'GET / HTTP/1.1\r\nHost: a.test\r\nConnection: X-Forwarded-For\r\n\r\n'],
    [
      'Connection that names X_Forwarded_Proto',
      'GET / HTTP/1.1\r\nHost: a.test\r\nConnection: x_forwarded_proto\r\n\r\n',
    ],
    ['a space before the colon', 'GET / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n'],
    ['a folded field', 'GET / HTTP/1.1\r\nHost: a.test\r\nX: a\r\n b\r\n\r\n'],
    ['a bare carriage return', 'GET / HTTP/1.1\r\nHost: a.test\r\nX: a\rb\r\n\r\n'],
    ['a NUL in a field', 'GET / HTTP/1.1\r\nHost: a.test\r\nX: a\u0000b\r\n\r\n'],
  ])('is answered with 400 and goes no further: %s', async (_, text) => {
    const answer = await rig.raw(text + SMUGGLED);
    expect(statusOf(answer)).toBe(400);
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(answer.toLowerCase()).toContain('connection: close');
    // Whatever was to be asked has been asked by now: a whole request on another connection goes through.
    await rig.ask({ path: '/after' });
    expect(seen.filter(({ url }) => url !== '/after' && !url.startsWith('/?'))).toEqual([]);
  });

  it.each([
    ['CONNECT', 'CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n', 405],
    ['TRACE', 'TRACE / HTTP/1.1\r\nHost: a.test\r\n\r\n', 405],
    [
      'a transfer coding that is not chunked',
      'POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
      501,
    ],
    [
      'an expectation that nobody knows',
      'POST / HTTP/1.1\r\nHost: a.test\r\nExpect: magic\r\nContent-Length: 0\r\n\r\n',
      417,
    ],
    ['fields without end', `GET / HTTP/1.1\r\nHost: a.test\r\n${'A: b\r\n'.repeat(300)}\r\n`, 431],
    ['a head without end', `GET / HTTP/1.1\r\nHost: a.test\r\nA: ${'b'.repeat(70_000)}\r\n\r\n`, 431],
  ])('has its own status: %s', async (_, text, status) => {
    const answer = await rig.raw(text);
    expect(statusOf(answer)).toBe(status);
    await rig.ask({ path: '/after' });
    expect(seen.map(({ url }) => url)).toEqual(['/after']);
  });

  it('does not reach its target completely if its chunks are invalid', async () => {
    const answer = await rig.raw('POST /cut HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n');
    expect(answer).toBe('');
    await rig.ask({ path: '/after' });
    expect(seen.map(({ url }) => url)).toEqual(['/after']);
  });

  it('does not get an answer of an earlier request', async () => {
    const answer = await rig.raw(
      `${SMUGGLED.replace('smuggled', 'first')}GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`,
    );
    expect(answer.match(/HTTP\/1\.1 (\d+)/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
    await waitFor(() => seen.length === 1);
  });
});

describe('an accepted request', () => {
  it('is written from the parsed parts', async () => {
    const answer = await rig.raw(
      'GET http://A.test:80/a//b/./c?d=%2f HTTP/1.1\r\nhOsT: a.test:80\r\nX-Odd:   spaced  \r\nConnection: close\r\n\r\n',
    );
    expect(statusOf(answer)).toBe(200);
    expect(seen[0]?.url).toBe('/a/b/c?d=%2f');
    expect(seen[0]?.fields.slice(0, 2)).toEqual(['host', 'A.test:80']);
    expect(seen[0]?.fields).toContain('spaced');
  });

  it('keeps escaped slashes if no location depends on them', async () => {
    await rig.raw('GET /@scope%2fname HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n');
    expect(seen[0]?.url).toBe('/@scope%2fname');
  });

  it('has no fields with underscores, none of this connection, and none that only the gateway may write', async () => {
    await rig.raw(
      'GET / HTTP/1.1\r\nHost: a.test\r\nX_Forwarded_Proto: https\r\nContent_Length: 4\r\nX-Forwarded-Prefix: /x\r\n' +
        'X-Forwarded-For: 9.9.9.9\r\nX-Real-IP: 9.9.9.9\r\nForwarded: for=9.9.9.9\r\nKeep-Alive: 5\r\nTE: trailers\r\n' +
        'Proxy-Connection: x\r\nProxy-Authorization: x\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\nX-Mine: 1\r\n' +
        'Connection: close, Upgrade, HTTP2-Settings, X-Mine\r\n\r\n',
    );
    expect(names(seen[0]?.fields ?? [])).toEqual([
      'host',
      'connection',
      'x-forwarded-for',
      'x-real-ip',
      'x-forwarded-proto',
      'x-forwarded-host',
      'x-forwarded-port',
    ]);
    expect(seen[0]?.fields).not.toContain('9.9.9.9');
  });

  it('is chunked again from the decoded chunks', async () => {
    await rig.raw(
      'POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: Chunked\r\nConnection: close\r\n\r\n' +
        '5;ext=1\r\nhello\r\n1\r\n!\r\n0\r\nX-Trailer: y\r\n\r\n',
    );
    expect(seen[0]?.body).toBe('hello!');
    expect(names(seen[0]?.fields ?? [])).toContain('transfer-encoding');
  });

  it('is answered in order on its connection', async () => {
    const answer = await rig.raw(
      ['/1', '/2', '/3']
        .map((path) => `GET ${path} HTTP/1.1\r\nHost: a.test\r\n${path === '/3' ? 'Connection: close\r\n' : ''}\r\n`)
        .join(''),
    );
    expect(answer.match(/served \/\d/g)).toEqual(['served /1', 'served /2', 'served /3']);
  });
});
