import { createDecipheriv, createSecretKey, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parseUserId } from '../node-protocol.js';
import { ChunkOpener, ChunkSealer, MAX_DATAGRAM, MAX_PAYLOAD, type BodyKeys } from './body.js';
import {
  OPTION,
  VmessError,
  createAccount,
  fnv1a,
  sealRequest,
  takeRandom,
  type Security,
  commandKey,
  deriveCipherKey,
  deriveKey,
  deriveNonce,
} from './header.js';

const ID = parseUserId('b831381d-6324-4d53-ad4f-8cda48b30811') ?? Buffer.alloc(0);

describe('keys', () => {
  it('are derived as in the test of V2Ray', () => {
    const path = ['', '2', '3'].map((number) => `Demo Path for KDF Value Test${number}`);
    expect(deriveKey(Buffer.from('Demo Key for KDF Value Test'), ...path).toString('hex')).toBe(
      '53e9d7e1bd7bd25022b71ead07d8a596efc8a845c7888652fd684b4903dc8892',
    );
  });

  it('of a name are the UUIDv5 that Xray documents', () => {
    expect(parseUserId('example')?.toString('hex')).toBe('feb54431301b52bba6dde1e93e81bb9e');
    expect(parseUserId('我爱🍉老师1314')?.toString('hex')).toBe('5783a3e7e37351cd8642c83782b807c5');
    expect(parseUserId('B831381D63244D53AD4F8CDA48B30811')?.equals(ID)).toBe(true);
    expect(parseUserId('')).toBeNull();
    expect(parseUserId('x'.repeat(31))).toBeNull();
  });

  it('hash by FNV-1a', () => {
    const hashes = ['', 'a', 'foobar'].map((text) => fnv1a(Buffer.from(text)).toString(16));
    expect(hashes).toEqual(['811c9dc5', 'e40c292c', 'bf9cf968']);
  });
});

describe('a request', () => {
  const account = createAccount(ID);
  const request = {
    command: 1,
    security: 'aes-128-gcm' as const,
    options: 13,
    target: { host: 'example.com', port: 443 },
  };

  /** Opens a request like a server. */
  function open(sealed: Buffer): { seconds: number; instruction: Buffer } {
    const authKey = createSecretKey(deriveCipherKey(commandKey(ID), 'AES Auth ID Encryption'));
    const authId = sealed.subarray(0, 16);
    const plainId = createDecipheriv('aes-128-ecb', authKey, null).setAutoPadding(false).update(authId);
    expect(plainId.readUInt32BE(12)).toBe(crc32(plainId.subarray(0, 12)));
    const nonce = sealed.subarray(34, 42);
    const openPart = (label: string, bytes: Buffer): Buffer => {
      const [key, iv] = [label, label.replace('Key', 'Nonce')].map((part) => `VMess Header AEAD ${part}`);
      const decipher = createDecipheriv(
        'aes-128-gcm',
        deriveCipherKey(commandKey(ID), key ?? '', authId, nonce),
        deriveNonce(commandKey(ID), iv ?? '', authId, nonce),
      );
      decipher.setAAD(authId).setAuthTag(bytes.subarray(-16));
      return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]);
    };
    const length = openPart('Key_Length', sealed.subarray(16, 34)).readUInt16BE();
    expect(sealed.length).toBe(42 + length + 16);
    return { seconds: Number(plainId.readBigInt64BE()), instruction: openPart('Key', sealed.subarray(42)) };
  }

  it('contains its fields and the time it was made', () => {
    const random = takeRandom((count) => Buffer.alloc(count, count));
    const { seconds, instruction } = open(sealRequest(account, request, random, 1_700_000_000));
    expect(seconds).toBe(1_700_000_000);
    const fixed = `01${'10'.repeat(16)}${'10'.repeat(16)}010d13000101bb020b`;
    const name = Buffer.from('example.com').toString('hex');
    expect(instruction.subarray(0, -4).toString('hex')).toBe(`${fixed}${name}01`);
    expect(instruction.readUInt32BE(instruction.length - 4)).toBe(fnv1a(instruction.subarray(0, -4)));
  });

  it('is never the same twice', () => {
    const made = Array.from({ length: 200 }, () => sealRequest(account, request, takeRandom(randomBytes), 1));
    for (const [start, end] of [
      [0, 16],
      [34, 42],
      [42, 58],
    ]) {
      expect(new Set(made.map((bytes) => bytes.toString('hex', start, end))).size).toBe(200);
    }
  });
});

describe.each<[Security, number]>([
  ['aes-128-gcm', OPTION.chunkStream | OPTION.chunkMasking | OPTION.globalPadding],
  ['chacha20-poly1305', OPTION.chunkStream | OPTION.chunkMasking | OPTION.globalPadding],
  ['aes-128-gcm', OPTION.chunkStream | OPTION.chunkMasking],
  ['none', OPTION.chunkStream | OPTION.chunkMasking],
])('a body with %s and options %i', (security, options) => {
  const keys = (): BodyKeys => ({ security, options, key: randomBytes(16), iv: randomBytes(16) });

  function seal(body: BodyKeys, payloads: readonly Buffer[], end = true): Buffer {
    const pieces: Buffer[] = [];
    const put = (piece: Buffer): void => void pieces.push(piece);
    const sealer = new ChunkSealer(body, randomBytes);
    for (const payload of payloads) sealer.seal(payload, put);
    if (end) sealer.sealChunk(Buffer.alloc(0), put);
    return Buffer.concat(pieces);
  }

  it.each([1, 3, 17, 1000, 200_000])('is read in pieces of %i bytes, and ends at its end mark', (cut) => {
    const body = keys();
    const payloads = [1, 100, MAX_PAYLOAD, MAX_PAYLOAD + 1, 70_000].map((size) => randomBytes(size));
    const sealed = Buffer.concat([seal(body, payloads), Buffer.from('what comes after')]);
    const opener = new ChunkOpener(body);
    const opened: Buffer[] = [];
    for (let at = 0; at < sealed.length; at += cut) {
      opener.push(sealed.subarray(at, at + cut), (pieces) => opened.push(...pieces));
    }
    expect(Buffer.concat(opened).equals(Buffer.concat(payloads))).toBe(true);
    expect(opener.done).toBe(true);
  });

  it('keeps datagrams apart up to the longest', () => {
    const body = keys();
    const sealer = new ChunkSealer(body, randomBytes);
    const opener = new ChunkOpener(body);
    for (const size of [1, 1400, MAX_DATAGRAM]) {
      const payload = randomBytes(size);
      const seen: Buffer[] = [];
      sealer.sealChunk(payload, (piece) => opener.push(piece, (pieces) => seen.push(Buffer.concat(pieces))));
      expect(seen).toHaveLength(1);
      expect(seen[0]?.equals(payload)).toBe(true);
    }
  });

  // Without a cipher there is nothing to check.
  const sealedIt = security === 'none' ? null : it;
  sealedIt?.('never gives out what was tampered with', () => {
    const body = keys();
    const good = seal(body, [Buffer.from('a secret of some length')]);
    for (let at = 0; at < good.length; at += 1) {
      const bad = Buffer.from(good);
      bad[at] = (bad[at] ?? 0) ^ 0x41;
      const given: Buffer[] = [];
      const opener = new ChunkOpener(body);
      try {
        opener.push(bad, (pieces) => given.push(...pieces));
      } catch (error) {
        expect(error).toBeInstanceOf(VmessError);
      }
      // Padding is not sealed, so changing it has no effect.
      const text = Buffer.concat(given).toString();
      expect(['', 'a secret of some length']).toContain(text);
    }
  });

  it('survives garbage without an error of another kind', () => {
    for (let round = 0; round < 500; round += 1) {
      try {
        new ChunkOpener(keys()).push(randomBytes(1 + round), () => undefined);
      } catch (error) {
        expect(error).toBeInstanceOf(VmessError);
      }
    }
  });
});

describe('chunks', () => {
  it('of a body continue past 65,536 chunks, where the counter restarts', () => {
    const options = OPTION.chunkStream | OPTION.chunkMasking;
    const body: BodyKeys = { security: 'aes-128-gcm', options, key: randomBytes(16), iv: randomBytes(16) };
    const sealer = new ChunkSealer(body, randomBytes);
    const opener = new ChunkOpener(body);
    let sum = 0;
    for (let index = 0; index < 65_540; index += 1) {
      sealer.sealChunk(Buffer.from([index & 255]), (piece) => {
        opener.push(piece, (pieces) => (sum += pieces[0]?.[0] === (index & 255) ? 1 : 0));
      });
    }
    expect(sum).toBe(65_540);
  });
});
