import fc from 'fast-check';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { sniffHttpHost, sniffTlsServerName, tlsProtocols } from './index.js';

/** The ClientHello that Node sends. */
async function clientHello(servername: string | undefined, ALPNProtocols: string[] = []): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const secure = connectTls({ socket, ALPNProtocols, ...(servername ? { servername } : {}) });
  secure.on('error', () => undefined);
  const [accepted] = (await once(server, 'connection')) as [import('node:net').Socket];
  const [hello] = (await once(accepted, 'data')) as [Buffer];
  for (const item of [accepted, secure]) item.destroy();
  server.close();
  return hello;
}

/** The same handshake bytes in records of at most `size`. */
function fragmented(hello: Buffer, size: number): Buffer {
  const body = hello.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size);
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part);
  }
  return Buffer.concat(records);
}

describe('TLS server name', () => {
  it('costs no more in thousands of records than in one', () => {
    const body = Buffer.concat([Buffer.from([1, 0, 0x3f, 0xf0]), Buffer.alloc(15_000)]);
    const hello = fragmented(Buffer.concat([Buffer.alloc(5), body]), 1);
    const began = performance.now();
    expect(sniffTlsServerName(hello)).toEqual({ state: 'incomplete' });
    expect(performance.now() - began).toBeLessThan(200);
  });

  it('is found, in lower case and without a trailing dot', async () => {
    expect(sniffTlsServerName(await clientHello('WWW.Example.com'))).toEqual({
      state: 'found',
      host: 'www.example.com',
    });
  });

  it('is null if there is none', async () => {
    expect(sniffTlsServerName(await clientHello(undefined))).toEqual({ state: 'found', host: null });
  });

  it('is found in any fragmentation, and every cut before the end is incomplete', async () => {
    const hello = await clientHello('a.example.com');
    for (const size of [1, 7, 100, 1000]) {
      expect(sniffTlsServerName(fragmented(hello, size))).toEqual({ state: 'found', host: 'a.example.com' });
    }
    for (let length = 0; length < hello.length; length += 1) {
      expect(sniffTlsServerName(hello.subarray(0, length))).toEqual({ state: 'incomplete' });
    }
  });

  it.each([
    ['HTTP', Buffer.from('GET / HTTP/1.1\r\n')],
    ['another record', Buffer.from([23, 3, 3, 0, 5, 1, 2, 3, 4, 5])],
    ['a ServerHello', Buffer.from([22, 3, 3, 0, 4, 2, 0, 0, 0])],
    ['a hello of megabytes', Buffer.from([22, 3, 1, 0, 4, 1, 0xff, 0xff, 0xff])],
    ['an empty record', Buffer.from([22, 3, 1, 0, 0, 1])],
  ])('%s has none', (_name, bytes) => {
    expect(sniffTlsServerName(bytes)).toEqual({ state: 'no' });
  });

  it('never throws and never returns a name with other characters, for any input', async () => {
    const hello = await clientHello('a.example.com');
    const damage = fc.array(fc.tuple(fc.nat(hello.length - 1), fc.nat(255)), { maxLength: 20 });
    fc.assert(
      fc.property(damage, (changes) => {
        const bytes = Buffer.from(hello);
        for (const [at, value] of changes) bytes[at] = value;
        const result = sniffTlsServerName(bytes);
        if (result.state === 'found' && result.host !== null) expect(result.host).toMatch(/^[a-z0-9._-]+$/);
      }),
    );
  });
});

describe('TLS protocols', () => {
  it('are those that the client offers', async () => {
    for (const offered of [['h2', 'http/1.1'], ['http/1.1', 'gwk/0a1b'], []]) {
      expect(tlsProtocols(await clientHello('a.example.com', offered))).toEqual(offered);
      expect(tlsProtocols(fragmented(await clientHello(undefined, offered), 7))).toEqual(offered);
    }
  });

  it('are none in anything else, whatever it is', async () => {
    const hello = await clientHello('a.example.com', ['h2', 'http/1.1']);
    for (let length = 0; length < hello.length; length += 1) {
      expect(tlsProtocols(hello.subarray(0, length))).toEqual([]);
    }
    const damage = fc.array(fc.tuple(fc.nat(hello.length - 1), fc.nat(255)), { maxLength: 20 });
    fc.assert(
      fc.property(damage, (changes) => {
        const bytes = Buffer.from(hello);
        for (const [at, value] of changes) bytes[at] = value;
        expect(tlsProtocols(bytes).length).toBeLessThan(bytes.length);
      }),
    );
  });
});

describe('HTTP host', () => {
  it.each([
    ['GET / HTTP/1.1\r\nHost: Example.com:8080\r\n\r\n', 'example.com'],
    ['POST /x HTTP/1.1\r\nA: b\r\nhost:a.b\r\n', 'a.b'],
    ['GET / HTTP/1.1\r\nA: b\r\n\r\nHost: body.example\r\n', null],
    ['GET / HTTP/1.1\r\nHost: a b\r\n\r\n', null],
  ])('%j', (text, host) => {
    expect(sniffHttpHost(Buffer.from(text))).toEqual({ state: 'found', host });
  });

  it.each(['G', 'GET / HTTP/1.1\r\nHost: exam', 'DELETE'])('%j is incomplete', (text) => {
    expect(sniffHttpHost(Buffer.from(text))).toEqual({ state: 'incomplete' });
  });

  it.each(['SSH-2.0-x\r\n', '\u0016\u0003\u0001', `GET /${'a'.repeat(20_000)}`])('%j has none', (text) => {
    expect(sniffHttpHost(Buffer.from(text))).toEqual({ state: 'no' });
  });

  it('takes no longer for many spaces', () => {
    const began = performance.now();
    expect(sniffHttpHost(Buffer.from(`GET / HTTP/1.1\r\nHost:${' '.repeat(3000)}`))).toEqual({ state: 'incomplete' });
    expect(sniffHttpHost(Buffer.from(`GET / HTTP/1.1\r\nHost: a${' \t'.repeat(7000)}b\r\n`))).toEqual({
      state: 'found',
      host: null,
    });
    expect(performance.now() - began).toBeLessThan(100);
  });
});
