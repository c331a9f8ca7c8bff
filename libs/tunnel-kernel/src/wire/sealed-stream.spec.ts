import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi, type MockInstance } from 'vitest';
import { waitFor } from '@gatehouse/testing';
import { closePairs, sockets } from '../../test/channel-pair.js';
import {
  channelKeys,
  COMMON_RECORD_BYTES,
  MAX_RECORD_BYTES,
  RecordOpener,
  RecordSealer,
  RECORD_HEAD_BYTES,
} from './sealed-records.js';
import { SealedStream } from './sealed-stream.js';

afterEach(closePairs);

const keys = channelKeys({ id: randomBytes(16), key: randomBytes(32) });

async function pair(): Promise<{ near: SealedStream; far: SealedStream; nearSocket: Socket; farSocket: Socket }> {
  const { agent: near, server: far } = await sockets();
  return {
    near: new SealedStream(near, keys, 'agent'),
    far: new SealedStream(far, keys, 'server'),
    nearSocket: near,
    farSocket: far,
  };
}

function collect(stream: SealedStream): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    stream.on('data', (part) => parts.push(Buffer.from(part)));
    stream.on('end', () => resolve(Buffer.concat(parts)));
    stream.on('error', reject);
    stream.on('close', () => reject(new Error('closed without an end')));
    stream.resume();
  });
}

/** What the agent would send: a record for each text, `''` the end. */
function records(...texts: string[]): Buffer[] {
  const sealer = new RecordSealer(keys.agent);
  return texts.map((text) => Buffer.concat(sealer.seal(Buffer.from(text))));
}

/** As docs/tunnel-protocol.md describes the records, with a cipher object for each. */
function recordsOfNode(texts: readonly Buffer[], keyRecords: number): Buffer[] {
  let key = keys.agent;
  return texts.map((text, number) => {
    if (number > 0 && number % keyRecords === 0) {
      key = Buffer.from(hkdfSync('sha256', key, '', 'gatehouse channel next', 32));
    }
    const nonce = Buffer.alloc(12);
    nonce.writeUIntBE(number, 6, 6);
    const length = Buffer.alloc(3);
    length.writeUIntBE(text.length, 0, 3);
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(length);
    const sealed = Buffer.concat([cipher.update(text), cipher.final()]);
    return Buffer.concat([length, cipher.getAuthTag(), sealed]);
  });
}

const afterRecords = (records: number): { records: number; bytes: number } => ({ records, bytes: Infinity });

/** How the server's end takes these bytes. */
async function taken(parts: readonly Buffer[]): Promise<string> {
  const { agent: near, server: far } = await sockets();
  const received = collect(new SealedStream(far, keys, 'server'));
  for (const part of parts) near.write(part);
  near.end();
  return received.then(
    (bytes) => `complete: ${String(bytes)}`,
    (error: Error) => error.message,
  );
}

describe('a sealed stream', () => {
  it('carries both directions, each with its own end', async () => {
    const { near, far } = await pair();
    const question = collect(far);
    near.write(Buffer.from('question'));
    near.end();
    expect(String(await question)).toBe('question');
    const answer = collect(near);
    const closed = Promise.all([once(near, 'close'), once(far, 'close')]);
    far.write(Buffer.from('answer'));
    far.end();
    expect(String(await answer)).toBe('answer');
    await closed;
  });

  it('hides its content, and never looks the same for equal bytes', async () => {
    const { agent: near, server: far } = await sockets();
    const stream = new SealedStream(near, keys, 'agent');
    const seen: Buffer[] = [];
    far.on('data', (part: Buffer) => seen.push(part));
    far.resume();
    const plain = Buffer.alloc(20_000, 'the secret of the visitor ');
    for (let turn = 0; turn < 2; turn++) stream.write(plain);
    stream.end();
    await once(far, 'end');
    const wire = Buffer.concat(seen);
    expect(wire).toHaveLength(2 * (plain.length + RECORD_HEAD_BYTES) + RECORD_HEAD_BYTES);
    for (let at = 0; at + 8 <= 26; at++) expect(wire.includes(plain.subarray(at, at + 8))).toBe(false);
    const record = plain.length + RECORD_HEAD_BYTES;
    expect(wire.subarray(RECORD_HEAD_BYTES, record)).not.toEqual(wire.subarray(record + RECORD_HEAD_BYTES, 2 * record));
  });

  it('delivers what was sent, and is complete only with its end', async () => {
    expect(await taken(records('one', 'two', ''))).toBe('complete: onetwo');
    expect(await taken(records('one', 'two'))).toBe('the other end cut the stream');
    expect(await taken([])).toBe('the other end cut the stream');
  });

  it.each([
    ['reordered', ([one, two, end]: Buffer[]) => [two, one, end]],
    ['repeated', ([one, two, end]: Buffer[]) => [one, one, two, end]],
    ['left out', ([, two, end]: Buffer[]) => [two, end]],
    ['left out before the end', ([one, , end]: Buffer[]) => [one, end]],
  ])('is aborted by records that are %s', async (_, change) => {
    const changed = change(records('one', 'two', '')) as Buffer[];
    expect(await taken(changed)).toMatch(/a record that was not sealed|the other end cut/);
  });

  it('is closed by anything after the end', async () => {
    const { agent: near, server: far } = await sockets();
    const stream = new SealedStream(far, keys, 'server');
    const failed = once(stream, 'error');
    stream.resume();
    near.write(Buffer.concat([...records('one', '', 'two')]));
    expect(String(await failed)).toContain('after the end');
    expect(stream.destroyed).toBe(true);
  });

  it('is aborted by records of the other direction or another channel', async () => {
    const [mine] = new RecordSealer(keys.server).seal(Buffer.from('echoed back')) as [Buffer];
    expect(await taken([mine])).toBe('a record that was not sealed for this place');
    const other = channelKeys({ id: randomBytes(16), key: randomBytes(32) });
    const [foreign] = new RecordSealer(other.agent).seal(Buffer.from('x')) as [Buffer];
    expect(await taken([foreign])).toBe('a record that was not sealed for this place');
  });

  it('is aborted if any bit is changed, wherever it is split', () => {
    const wire = Buffer.concat(records('some bytes', ''));
    for (let bit = 0; bit < wire.length * 8; bit++) {
      const changed = Buffer.from(wire);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      const opened: string[] = [];
      const opener = new RecordOpener(keys.agent, (plain) => opened.push(String(plain)));
      let failed = false;
      try {
        opener.read(changed.subarray(0, 7));
        opener.read(changed.subarray(7));
      } catch {
        failed = true;
      }
      // A length that became larger waits for bytes that do not come: the transport's end is an abort then.
      expect(failed || opener.isWithin).toBe(true);
      expect(opened).not.toContain('');
    }
  });

  it('reports a reset as an abort', async () => {
    const { near, far } = await pair();
    const received = collect(far);
    near.write(Buffer.from('half'));
    await waitFor(() => near.writableLength === 0);
    near.resetAndDestroy();
    await expect(received).rejects.toThrow();
    expect(far.readableEnded).toBe(false);
  });

  it('slows the sender down while nobody reads', async () => {
    const { near, far } = await pair();
    const block = Buffer.alloc(256 * 1024);
    let sent = 0;
    while (near.writableLength === 0 && sent < 256 * 1024 * 1024) {
      near.write(block);
      sent += block.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(sent).toBeLessThan(64 * 1024 * 1024);
    let received = 0;
    far.on('data', (part) => (received += part.length));
    near.end();
    far.resume();
    await once(far, 'end');
    expect(received).toBe(sent);
  });

  it('derives new keys after a number of records, on both sides', () => {
    const opened: string[] = [];
    const sealer = new RecordSealer(keys.agent, afterRecords(2));
    const opener = new RecordOpener(keys.agent, (plain) => opened.push(String(plain)), afterRecords(2));
    const sealed = ['a', 'b', 'c', 'd', 'e'].map((text) => Buffer.concat(sealer.seal(Buffer.from(text))));
    opener.read(Buffer.concat(sealed));
    expect(opened.join('')).toBe('abcde');
    const old = new RecordOpener(keys.agent, () => undefined);
    expect(() => old.read(Buffer.concat(sealed))).toThrow('not sealed');
  });

  it('derives new keys after a number of bytes, on both sides', () => {
    const opened: string[] = [];
    const limits = { records: 1000, bytes: 3 };
    const sealer = new RecordSealer(keys.agent, limits);
    const opener = new RecordOpener(keys.agent, (plain) => opened.push(String(plain)), limits);
    const sealed = ['a', 'bb', 'c', 'ddd', 'e'].map((text) => Buffer.concat(sealer.seal(Buffer.from(text))));
    opener.read(Buffer.concat(sealed));
    expect(opened.join('')).toBe('abbcddde');
    // The first two have one key, the next two the second.
    const old = new RecordOpener(keys.agent, (plain) => opened.push(String(plain)));
    old.read(Buffer.concat(sealed.slice(0, 2)));
    expect(() => old.read(sealed[2] as Buffer)).toThrow('not sealed');
  });

  it('has the records that Node’s cipher makes, short and long ones in any order', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.nat(40), fc.integer({ min: 100, max: 300 })), { maxLength: 40 }), (lengths) => {
        const sealer = new RecordSealer(keys.agent, afterRecords(7));
        const opened: Buffer[] = [];
        const opener = new RecordOpener(keys.agent, (plain) => opened.push(plain), afterRecords(7));
        const texts = lengths.map((length) => randomBytes(length));
        const sealed = texts.map((text) => Buffer.concat(sealer.seal(text)));
        expect(sealed).toEqual(recordsOfNode(texts, 7));
        opener.read(Buffer.concat(sealed));
        expect(opened).toEqual(texts);
      }),
    );
  });

  it('refuses a record that is too long before it buffers any of it', () => {
    const opener = new RecordOpener(keys.agent, () => undefined);
    const head = Buffer.alloc(RECORD_HEAD_BYTES);
    head.writeUIntBE(MAX_RECORD_BYTES + 1, 0, 3);
    expect(() => opener.read(head)).toThrow('too long');
  });

  it('opens long records in pieces, however they are split', () => {
    const cut = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 300_000 }));
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 4_000, max: MAX_RECORD_BYTES }), { minLength: 1, maxLength: 3 }),
        fc.array(cut, { minLength: 1, maxLength: 30 }),
        (lengths, cuts) => {
          const sealer = new RecordSealer(keys.agent);
          const opened: Buffer[] = [];
          const opener = new RecordOpener(keys.agent, (plain) => opened.push(plain));
          const texts = lengths.map((length) => randomBytes(length));
          const wire = Buffer.concat(texts.flatMap((text) => sealer.seal(text)));
          for (let at = 0, turn = 0; at < wire.length; turn++) {
            const size = turn < cuts.length ? (cuts[turn] as number) : wire.length;
            // As memory that is used again for what comes next.
            const piece = Buffer.from(wire.subarray(at, at + size));
            opener.read(piece);
            piece.fill(0);
            at += size;
          }
          expect(opener.isWithin).toBe(false);
          expect(Buffer.concat(opened).equals(Buffer.concat(texts))).toBe(true);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('delivers no part of a long record in pieces before its tag has been checked', () => {
    const wire = Buffer.concat(new RecordSealer(keys.agent).seal(randomBytes(200_000)));
    wire[wire.length - 1]! ^= 1;
    const opened: Buffer[] = [];
    const opener = new RecordOpener(keys.agent, (plain) => opened.push(plain));
    opener.read(wire.subarray(0, 150_000));
    expect([opened.length, opener.isWithin]).toEqual([0, true]);
    expect(() => opener.read(wire.subarray(150_000))).toThrow('not sealed');
    expect(opened).toEqual([]);
  });

  it('has few parts for a long record that comes byte by byte', () => {
    const plain = randomBytes(MAX_RECORD_BYTES);
    const wire = Buffer.concat(new RecordSealer(keys.agent).seal(plain));
    const opened: Buffer[] = [];
    const opener = new RecordOpener(keys.agent, (part) => opened.push(part));
    for (let at = 0; at < wire.length; at += 1) opener.read(wire.subarray(at, at + 1));
    expect(Buffer.concat(opened).equals(plain)).toBe(true);
    expect(opened.length).toBeLessThanOrEqual(16);
  });

  describe('with long records', () => {
    const block = Buffer.alloc(40_000);
    let sealed: MockInstance<RecordSealer['seal']>;
    const lengths = (): number[] => sealed.mock.calls.splice(0).map(([plain]) => plain.length);
    beforeEach(() => void (sealed = vi.spyOn(RecordSealer.prototype, 'seal')));
    afterEach(() => sealed.mockRestore());

    it('sends them where the other side takes them, also for the next visitor', async () => {
      const [short, long] = [await pair(), await pair()];
      long.near.useLongRecords();
      for (const { near } of [short, long]) near.write(block);
      long.near.next().write(block);
      expect(lengths()).toEqual([COMMON_RECORD_BYTES, block.length - COMMON_RECORD_BYTES, block.length, block.length]);
    });

    it('sends short ones while the line does not take everything at once', async () => {
      const { near, farSocket } = await pair();
      near.useLongRecords();
      while (near.writableLength === 0) near.write(block);
      lengths();
      near.write(block);
      expect(lengths()).toEqual([COMMON_RECORD_BYTES, block.length - COMMON_RECORD_BYTES]);
      farSocket.resume();
      await waitFor(() => near.writableLength === 0);
      near.write(block.subarray(0, 1));
      near.write(block);
      expect(lengths()).toEqual([1, COMMON_RECORD_BYTES, block.length - COMMON_RECORD_BYTES]);
      near.write(block);
      expect(lengths()).toEqual([block.length]);
    });
  });

  it('delivers the bytes in order, however they are split, paused and pushed back', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ minLength: 1, maxLength: 9000 }), { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 4000 }), { minLength: 1, maxLength: 10 }),
        fc.integer({ min: 1, max: 4 }),
        async (chunks, cuts, every) => {
          const { agent: near, server: socket } = await sockets();
          const far = new SealedStream(socket, keys, 'server');
          far.reuseMemory();
          const parts: Buffer[] = [];
          let count = 0;
          far.on('data', (part) => {
            count += 1;
            if (count % every !== 0) return void parts.push(Buffer.from(part));
            // Takes half of it, puts the rest back.
            const half = (part.length + 1) >> 1;
            parts.push(Buffer.from(part.subarray(0, half)));
            far.pause();
            if (half < part.length) far.unshift(part.subarray(half));
            if (count % 2 === 0) far.resume();
            else setImmediate(() => far.resume());
          });
          const ended = once(far, 'end');
          far.resume();
          const sealer = new RecordSealer(keys.agent);
          const wire = Buffer.concat([...chunks, new Uint8Array(0)].flatMap((chunk) => sealer.seal(chunk)));
          for (let at = 0, turn = 0; at < wire.length; turn++) {
            const size = cuts[turn % cuts.length] ?? 1;
            near.write(wire.subarray(at, at + size));
            at += size;
            if (turn % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
          }
          await ended;
          expect(Buffer.concat(parts)).toEqual(Buffer.concat(chunks));
          near.destroy();
          far.destroy();
        },
      ),
      { numRuns: 60 },
    );
  });
});
