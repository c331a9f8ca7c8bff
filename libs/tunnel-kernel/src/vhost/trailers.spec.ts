import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import {
  connect as connectHttp2,
  createServer as createHttp2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HostRig } from '../../test/host-rig.js';
import { createServerIdentity } from '../index.js';
import type { VisitorVerifier } from '../access/visitor-verifier.js';

let rig: HostRig;
let seen: Record<string, unknown>;
const cleanups: (() => unknown)[] = [];
/** As for a callback that returned nothing about the visitor. */
const verifier: VisitorVerifier = {
  allows: () => true,
  checkPassword: () => false,
  guards: () => true,
  verify: () => ({ allowed: true, dropHeaders: ['x-user'], requestHeaders: [], responseHeaders: [] }),
};
beforeEach(async () => {
  const { certificate, key } = createServerIdentity('a.test');
  rig = await HostRig.start({ defaultCertificate: { chain: certificate, key } }, { verifier });
  seen = {};
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) cleanup();
  await rig.close();
});

/** Answers with trailers when it has got the whole of a request, and notes what followed its body. */
const targets = {
  http: () =>
    rig.origin((asked, response) => {
      asked.resume().on('end', () => {
        seen = { ...asked.trailers };
        response.writeHead(200, { Trailer: 'grpc-status, x-sum' });
        response.write('body');
        response.addTrailers({ 'grpc-status': '0', 'x-sum': '7' });
        response.end();
      });
    }),
  h2c: async (): Promise<number> => {
    const server = createHttp2Server();
    server.on('stream', (stream: ServerHttp2Stream) => {
      stream.on('error', () => undefined).resume();
      stream.on('trailers', (headers) => (seen = plain(headers)));
      stream.on('end', () => {
        stream.respond({ ':status': 200 }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'x-sum': '7' }));
        stream.end('body');
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    cleanups.push(() => server.close());
    return (server.address() as AddressInfo).port;
  },
};

/** Without what Node adds. */
const plain = (headers: IncomingHttpHeaders): Record<string, unknown> => Object.fromEntries(Object.entries(headers));

type Scheme = keyof typeof targets;
type Fields = Record<string, string>;

async function serve(scheme: Scheme): Promise<void> {
  const target = { host: '127.0.0.1', port: await targets[scheme](), weight: 1, scheme, insecure: false };
  await rig.serve(rig.hostConfig([target], { requestHeaders: { 'X-Owner': 'set', 'X-Removed': '' } }));
}

interface Answer {
  body: string;
  trailers: Record<string, unknown>;
}

const visitors = {
  'HTTP/1.1': async (trailers: Fields): Promise<Answer> => {
    const asked = request({
      port: rig.http,
      host: '127.0.0.1',
      method: 'POST',
      headers: { host: 'a.test', te: 'trailers', 'transfer-encoding': 'chunked' },
    });
    asked.write('some ');
    asked.addTrailers(trailers);
    asked.end('bytes');
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    let body = '';
    for await (const part of answer) body += String(part);
    return { body, trailers: answer.trailers };
  },
  'HTTP/2': async (trailers: Fields): Promise<Answer> => {
    const session = connectHttp2(`https://127.0.0.1:${rig.https}`, { rejectUnauthorized: false });
    cleanups.push(() => session.destroy());
    const head = { ':method': 'POST', ':authority': 'a.test', te: 'trailers' };
    const stream = session.request(head, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.end('some bytes');
    let said: IncomingHttpHeaders = {};
    stream.on('trailers', (headers) => (said = headers));
    let body = '';
    for await (const part of stream) body += String(part);
    return { body, trailers: plain(said) };
  },
};

const every = (Object.keys(visitors) as (keyof typeof visitors)[]).flatMap((version) =>
  (['http', 'h2c'] as const).map((scheme) => [version, scheme] as const),
);

describe('trailers', () => {
  it.each(every)('of a response reach a visitor over %s from a target of scheme %s', async (version, scheme) => {
    await serve(scheme);
    expect(await visitors[version]({})).toEqual({ body: 'body', trailers: { 'grpc-status': '0', 'x-sum': '7' } });
  });

  const sent = {
    'x-checksum': 'abc',
    'x-owner': 'somebody',
    'x-removed': 'by the owner',
    'x-user': 'who only a callback may name',
    'x-forwarded-for': '1.2.3.4',
    authorization: 'Basic eDp5',
    'content-type': 'text/evil',
    x_under: 'score',
  };

  it.each(['HTTP/1.1', 'HTTP/2'] as const)(
    'of a request over %s reach a target over HTTP/2, except those that are not allowed there',
    async (version) => {
      await serve('h2c');
      expect((await visitors[version](sent)).body).toBe('body');
      expect(seen).toEqual({ 'x-checksum': 'abc' });
    },
  );

  it.each(['HTTP/1.1', 'HTTP/2'] as const)(
    'of a request over %s are dropped for a target over HTTP/1.1',
    async (version) => {
      await serve('http');
      expect((await visitors[version](sent)).body).toBe('body');
      expect(seen).toEqual({});
    },
  );
});
