import { createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { NameServer, peerOrSkip } from '@gatehouse/testing';
import { checkAnswer, signedUpdate, type TsigKey } from './dns-update.js';
import { UpdateProvider } from './update-provider.js';

const key: TsigKey = { name: 'gw-key', secret: Buffer.alloc(32, 7) };
const update = { zone: 'example.org', name: '_acme-challenge.example.org', value: 'x', action: 'add' } as const;
const AT = 1_700_000_000;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Whoever only echoes the update has the right id, and a signature of the wrong kind. */
function echoed(change: (answer: Buffer) => void = () => undefined): () => void {
  const signed = signedUpdate(update, key, 7, AT);
  const answer = Buffer.from(signed.message);
  answer.writeUInt16BE(answer.readUInt16BE(2) | 0x8000, 2);
  change(answer);
  return () => checkAnswer(answer, signed, key, AT);
}

describe('an answer to a signed update', () => {
  it.each<[string, (answer: Buffer) => void, string]>([
    ['is only the update again', () => undefined, 'signed with another key'],
    ['has another id', (answer) => answer.writeUInt16BE(8, 0), 'not one to this update'],
    ['is a refusal', (answer) => answer.writeUInt8(0x85, 3), 'REFUSED'],
    ['promises more records than there are', (answer) => answer.writeUInt16BE(900, 8), 'not signed'],
    ['has no signature', (answer) => answer.writeUInt16BE(0, 10), 'not signed'],
  ])('is not believed if it %s', (_, change, message) => {
    expect(echoed(change)).toThrow(message);
  });

  it('is read to its end and no further, whatever it is', () => {
    const signed = signedUpdate(update, key, 7, AT);
    for (let cut = 0; cut < signed.message.length; cut += 1) {
      const answer = Buffer.from(signed.message.subarray(0, cut));
      expect(() => checkAnswer(answer, signed, key, AT)).toThrow();
    }
  });
});

describe('a name server', () => {
  it('(BIND) adds and removes the record for the right key, and refuses it for others', async (context) => {
    const program = peerOrSkip('named') ?? context.skip('named is not installed: npm run peers');
    const named = { name: key.name, secret: key.secret.toString('base64') };
    const server = await NameServer.start({ program, zone: 'example.org', key: named });
    closing.push(() => server.close());
    const options = { server: { host: '127.0.0.1', port: server.port }, zones: ['example.org'], key };
    const { signal } = new AbortController();
    const name = '_acme-challenge.a.example.org';
    const provider = new UpdateProvider(options);
    const remove = await provider.add(name, 'one', signal);
    const removeOther = await provider.add(name, 'two', signal);
    expect((await server.txt(name)).toSorted()).toEqual(['one', 'two']);
    await remove(signal);
    expect(await server.txt(name)).toEqual(['two']);
    await removeOther(signal);
    expect(await server.txt(name)).toEqual([]);
    const wrong = new UpdateProvider({ ...options, key: { ...key, secret: Buffer.alloc(32, 8) } });
    await expect(wrong.add(name, 'x', signal)).rejects.toThrow('NOTAUTH, BADSIG');
    const unknown = new UpdateProvider({ ...options, key: { ...key, name: 'other-key' } });
    await expect(unknown.add(name, 'x', signal)).rejects.toThrow('NOTAUTH, BADKEY');
    const elsewhere = new UpdateProvider({ ...options, zones: ['example.org', 'example.net'] });
    await expect(elsewhere.add('_acme-challenge.example.net', 'x', signal)).rejects.toThrow('NOTAUTH');
    await expect(provider.add('_acme-challenge.example.com', 'x', signal)).rejects.toThrow('ACME_DNS_ZONES');
    expect(await server.txt(name)).toEqual([]);
  });

  it('that is silent, or leaves, is not waited for beyond the order', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket.on('error', () => undefined)));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    closing.push(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    const { port } = silent.address() as AddressInfo;
    const provider = new UpdateProvider({ server: { host: '127.0.0.1', port }, zones: ['example.org'], key });
    const ends = new AbortController();
    const waiting = provider.add(update.name, 'x', ends.signal);
    await once(silent, 'connection');
    ends.abort(new Error('the service stops'));
    await expect(waiting).rejects.toThrow('the service stops');
    const left = provider.add(update.name, 'x', new AbortController().signal);
    const [socket] = (await once(silent, 'connection')) as [Socket];
    socket.destroy();
    await expect(left).rejects.toThrow('the name server 127.0.0.1');
  });
});
