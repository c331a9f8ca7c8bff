import { createSecretKey, randomBytes } from 'node:crypto';
import { blake3 } from '@noble/hashes/blake3.js';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { encodeSocksAddress } from '@gatehouse/net';
import { StreamOpener, StreamSealer, type StreamFormat } from '../shadowsocks/codec.js';
import { decodeAddress } from '../socks/codec.js';
import { decryptBlock, keyName, parseKeys2022, streamIdentities, subkey, type Keys2022 } from './cipher.js';
import { Datagrams2022, createSealing, ReplayWindow } from './datagrams.js';
import { session2022 } from './session.js';

const AES128 = '2022-blake3-aes-128-gcm';
const CIPHERS = [AES128, '2022-blake3-aes-256-gcm', '2022-blake3-chacha20-poly1305'];
const target = { host: 'example.com', port: 443 };
const address = encodeSocksAddress(target);

function keysFor(cipher: string, count = 1): Keys2022 {
  const length = cipher.includes('128') ? 16 : 32;
  const password = Array.from({ length: count }, () => randomBytes(length).toString('base64')).join(':');
  const keys = parseKeys2022(cipher, password);
  if (!keys) throw new Error('no keys');
  return keys;
}

const seconds = (offset = 0): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 1000) + offset));
  return bytes;
};
const uint16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);

afterEach(() => void vi.useRealTimers());

describe('keys', () => {
  it('are derived according to BLAKE3', () => {
    // The test vector of BLAKE3 for derive_key, with an input of one byte 0.
    const context = Buffer.from('BLAKE3 2019-12-27 16:29:52 test vectors context');
    const derived = Buffer.from(blake3(Buffer.from([0]), { context, dkLen: 32 })).toString('hex');
    expect(derived).toBe('b3e2e340a117a499c6cf2398a19ee0d29cca2bb7404c73063382693bf66cb06c');
    expect(subkey(Buffer.alloc(16), Buffer.alloc(16)).symmetricKeySize).toBe(16);
    expect(subkey(Buffer.alloc(32), Buffer.alloc(32)).symmetricKeySize).toBe(32);
  });

  it('are base64 of exactly the cipher’s length, several joined by colons', () => {
    const [one, two] = [Buffer.alloc(16, 1), Buffer.alloc(16, 2)];
    const text = [one, two].map((key) => key.toString('base64'));
    expect(parseKeys2022(AES128, text[0]!)).toMatchObject({ identities: [], user: one });
    expect(parseKeys2022(AES128, text.join(':'))).toMatchObject({ identities: [one], user: two });
    const bad = ['', ':', 'secret', Buffer.alloc(15).toString('base64'), `${text[0]}:`, `${text[0]}:x:${text[1]}`];
    for (const password of bad) expect(parseKeys2022(AES128, password)).toBeNull();
    expect(parseKeys2022('aes-128-gcm', text[0]!)).toBeNull();
    expect(parseKeys2022('constructor', text[0]!)).toBeNull();
    const long = Buffer.alloc(32).toString('base64');
    expect(parseKeys2022('2022-blake3-chacha20-poly1305', long)).not.toBeNull();
    // Without a block cipher there cannot be several users.
    expect(parseKeys2022('2022-blake3-chacha20-poly1305', `${long}:${long}`)).toBeNull();
    expect(parseKeys2022(AES128, Array.from({ length: 9 }, () => text[0]).join(':'))).toBeNull();
  });

  it('of intermediate servers identify the next one', () => {
    const keys = keysFor(AES128, 3);
    const salt = randomBytes(16);
    const blocks = streamIdentities(keys, salt);
    expect(blocks).toHaveLength(32);
    expect(streamIdentities(keysFor(AES128), salt)).toHaveLength(0);
    expect(blocks.subarray(0, 16).equals(blocks.subarray(16))).toBe(false);
  });
});

/** The server's side of a stream, made of the codec that SIP004 shares. */
class Server {
  readonly keys: Keys2022;
  private readonly format: StreamFormat;
  constructor(keys: Keys2022) {
    this.keys = keys;
    const { algorithm, keyLength } = keys.method;
    this.format = { algorithm, saltLength: keyLength, maxChunk: 0xffff, key: (salt) => subkey(keys.user, salt) };
  }
  /** Opens a request without identities. */
  open(bytes: Buffer): { type: number; at: number; plain: Buffer; salt: Buffer } {
    let [type, at] = [-1, 0];
    const firstHeader = {
      bytes: 11,
      payloadLength: (header: Buffer) => {
        type = header[0] ?? -1;
        at = Number(header.readBigUInt64BE(1));
        return header.readUInt16BE(9);
      },
    };
    const pieces: Buffer[] = [];
    new StreamOpener({ ...this.format, firstHeader }).push(bytes, (piece) => pieces.push(piece));
    return { type, at, plain: Buffer.concat(pieces), salt: bytes.subarray(0, this.format.saltLength) };
  }
  answer(requestSalt: Buffer, payload: Buffer, { type = 1, offset = 0 } = {}): Buffer {
    const salt = randomBytes(this.format.saltLength);
    const sealer = new StreamSealer(this.format, salt);
    const header = Buffer.concat([Buffer.from([type]), seconds(offset), requestSalt, uint16(payload.length)]);
    return Buffer.concat([salt, ...sealer.sealOne(header), ...sealer.sealOne(payload)]);
  }
}

describe.each(CIPHERS)('streams, %s', (cipher) => {
  const begin = (payload: Buffer) => {
    const server = new Server(keysFor(cipher));
    const session = session2022(server.keys, address);
    const { opening, rest } = session.begin(payload);
    return { server, session, rest, request: server.open(Buffer.from(opening)) };
  };

  it('send target and first payload in the request', () => {
    const { request, rest } = begin(Buffer.from('hello'));
    expect(request.type).toBe(0);
    expect(Math.abs(request.at - Date.now() / 1000)).toBeLessThan(5);
    expect(request.plain.equals(Buffer.concat([address, uint16(0), Buffer.from('hello')]))).toBe(true);
    expect(rest).toHaveLength(0);
  });

  it('pad a request without a payload', () => {
    const { request } = begin(Buffer.alloc(0));
    const end = decodeAddress(request.plain)!.end;
    const padding = request.plain.readUInt16BE(end);
    expect(padding).toBeGreaterThan(0);
    expect(padding).toBeLessThanOrEqual(900);
    expect(request.plain).toHaveLength(end + 2 + padding);
  });

  it('send the rest of a long payload in later chunks', () => {
    const payload = randomBytes(100_000);
    const { request, rest } = begin(payload);
    const first = request.plain.subarray(address.length + 2);
    expect(request.plain).toHaveLength(0xffff);
    expect(Buffer.concat([first, rest]).equals(payload)).toBe(true);
  });

  it('open an answer cut anywhere', () => {
    const { server, session, request } = begin(Buffer.from('x'));
    const bytes = server.answer(request.salt, Buffer.from('the answer'));
    const plain: Buffer[] = [];
    for (const byte of bytes) session.opener.push(Buffer.from([byte]), (piece) => plain.push(Buffer.from(piece)));
    expect(Buffer.concat(plain).toString()).toBe('the answer');
    expect(session.opener.atBoundary).toBe(true);
  });

  it.each([
    ['of another request', /another request/, { salt: true }],
    ['from long ago', /seconds apart/, { offset: -31 }],
    ['from the future', /seconds apart/, { offset: 32 }],
    ['that is a request', /did not send a response/, { type: 0 }],
  ])('refuse an answer %s', (_name, message, change: { salt?: boolean; offset?: number; type?: number }) => {
    const { server, session, request } = begin(Buffer.from('x'));
    const salt = change.salt ? randomBytes(request.salt.length) : request.salt;
    const given: Buffer[] = [];
    const bytes = server.answer(salt, Buffer.from('x'), change);
    expect(() => session.opener.push(bytes, (piece) => given.push(piece))).toThrow(message);
    expect(given).toEqual([]);
  });

  it('refuse an answer that is altered anywhere', () => {
    const { server, session, request } = begin(Buffer.from('x'));
    const bytes = server.answer(request.salt, Buffer.from('x'));
    bytes[bytes.length - 1] = bytes.at(-1)! ^ 1;
    expect(() => session.opener.push(bytes, () => expect.unreachable())).toThrow(/not sealed/);
  });
});

/** What a server with these keys sends to a client's session. */
function serverOf(keys: Keys2022, clientSession: Buffer) {
  const session = randomBytes(8);
  const sealing = createSealing({ ...keys, identities: [] }, session);
  return (id: number, { type = 1, offset = 0, to = clientSession } = {}): Buffer => {
    const header = Buffer.concat([session, Buffer.alloc(8)]);
    header.writeBigUInt64BE(BigInt(id), 8);
    const body = [Buffer.from([type]), seconds(offset), to, uint16(3), Buffer.alloc(3), address, Buffer.from('pong')];
    return sealing.seal(header, Buffer.concat(body));
  };
}

describe.each(CIPHERS)('datagrams, %s', (cipher) => {
  const pair = () => {
    const keys = keysFor(cipher);
    const session = randomBytes(8);
    return { keys, session, client: new Datagrams2022(keys, session), send: serverOf(keys, session) };
  };

  it('number their datagrams and name the target', () => {
    const { keys, session, client } = pair();
    const opener = createSealing(keys, session);
    for (const id of [0, 1, 2]) {
      const { header, body } = opener.open(client.seal(Buffer.from('ping'), target));
      expect(header.subarray(0, 8).equals(session)).toBe(true);
      expect(header.readBigUInt64BE(8)).toBe(BigInt(id));
      expect(body[0]).toBe(0);
      expect(body.readUInt16BE(9)).toBe(0);
      expect(decodeAddress(body, 11)?.target).toEqual(target);
      expect(body.subarray(11 + address.length).toString()).toBe('ping');
    }
    const dns = opener.open(client.seal(Buffer.from('ping'), { host: '1.1.1.1', port: 53 })).body;
    expect(dns.readUInt16BE(9)).toBeGreaterThan(0);
  });

  it('open each answer once, in any order', () => {
    const { client, send } = pair();
    const sent = [5, 0, 3, 1].map((id) => send(id));
    for (const bytes of sent) {
      expect(client.open(bytes)).toMatchObject({ target, payload: Buffer.from('pong') });
    }
    for (const bytes of sent) expect(() => client.open(bytes)).toThrow(/arrived twice/);
  });

  it.each([
    ['from long ago', { offset: -40 }, /seconds apart/],
    ['for another session', { to: Buffer.alloc(8) }, /another session/],
    ['that are requests', { type: 0 }, /not an answer/],
  ])('refuse answers %s', (_name, change, message) => {
    const { client, send } = pair();
    expect(() => client.open(send(0, change))).toThrow(message);
  });

  it('refuse datagrams that are too short, altered or sealed with another key', () => {
    const { client, send, session } = pair();
    const good = send(0);
    for (const size of [0, 1, 15, 31]) expect(() => client.open(good.subarray(0, size))).toThrow(/too short/);
    const altered = Buffer.from(good);
    altered[altered.length - 1] = altered.at(-1)! ^ 1;
    expect(() => client.open(altered)).toThrow(/not sealed/);
    expect(() => client.open(serverOf(keysFor(cipher), session)(0))).toThrow(/not sealed/);
    expect(client.open(good)).not.toBeNull();
  });

  it('let the server begin a new session, but not a third within a minute', () => {
    vi.useFakeTimers({ now: Date.now() });
    const { keys, session, client, send } = pair();
    const [second, third] = [serverOf(keys, session), serverOf(keys, session)];
    for (const [packetId, server] of [send, second, send].entries()) {
      expect(client.open(server(packetId))).not.toBeNull();
    }
    expect(() => client.open(third(0))).toThrow(/arrived twice/);
    vi.advanceTimersByTime(60_001);
    expect(client.open(third(0))).not.toBeNull();
  });
});

describe('datagrams with several users', () => {
  it('identify their user before the body', () => {
    const keys = keysFor(AES128, 2);
    const session = randomBytes(8);
    const bytes = new Datagrams2022(keys, session).seal(Buffer.from('ping'), target);
    const serverKey = createSecretKey(keys.identities[0]!);
    const header = decryptBlock(keys.method, serverKey, bytes.subarray(0, 16));
    expect(header.subarray(0, 8).equals(session)).toBe(true);
    const name = decryptBlock(keys.method, serverKey, bytes.subarray(16, 32)).map((byte, at) => byte ^ header[at]!);
    expect(Buffer.from(name).equals(keyName(keys.user))).toBe(true);
  });
});

describe('the replay window', () => {
  it('accepts each id once, and none that is too old', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 400 }), (ids) => {
        const window = new ReplayWindow();
        const seen = new Set<number>();
        let last = -1;
        for (const id of ids) {
          const wanted = !seen.has(id) && id > last - 2048;
          expect(window.accept(id)).toBe(wanted);
          if (wanted) seen.add(id);
          last = Math.max(last, id);
        }
      }),
    );
  });
});
