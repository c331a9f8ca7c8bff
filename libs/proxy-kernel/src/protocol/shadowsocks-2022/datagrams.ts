/** The datagrams of Shadowsocks 2022 (SIP022 3.2): our own session, and the sessions of the server that answers it. */
import { createCipheriv, createDecipheriv, createSecretKey, randomBytes, randomInt, type KeyObject } from 'node:crypto';
import { encodeSocksAddress, freshBytes } from '@gatehouse/net';
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import type { Target } from '../../interfaces/index.js';
import { TAG_LENGTH } from '../shadowsocks/cipher.js';
import { ShadowsocksError, checkTag } from '../shadowsocks/chunk-key.js';
import type { DatagramCodec } from '../shadowsocks/codec.js';
import { decodeAddress } from '../socks/codec.js';
import { decryptBlock, encryptBlock, keyName, subkey, type Keys2022 } from './cipher.js';
import { checkTimestamp, timestamp } from './clock.js';

const AUTH_TAG = { authTagLength: TAG_LENGTH };
const SESSION_BYTES = 8;
/** `session id ‖ packet id`. */
const HEADER_BYTES = 16;
const XNONCE_BYTES = 24;
const TYPE_CLIENT = 0;
const TYPE_SERVER = 1;
const MAX_PADDING = 900;
/** How long a session of the server is kept after its last datagram (SIP022 3.2.4). */
const SESSION_MS = 60_000;

/** How a datagram is sealed: header and body separately, or together. */
export interface Sealing {
  seal(header: Buffer, body: Buffer): Buffer;
  /** @throws ShadowsocksError. */
  open(bytes: Buffer): { header: Buffer; body: Buffer };
}

interface ServerSession {
  id: string;
  window: ReplayWindow;
  lastAt: number;
}

export class Datagrams2022 implements DatagramCodec {
  private readonly sessionId: Buffer;
  private readonly sealing: Sealing;
  private packetId = 0n;
  /** The server's session, and the previous one, from before the server restarted. */
  private sessions: ServerSession[] = [];

  constructor(keys: Keys2022, sessionId = randomBytes(SESSION_BYTES)) {
    this.sessionId = sessionId;
    this.sealing = createSealing(keys, sessionId);
  }

  seal(payload: Buffer, target: Target): Buffer {
    const header = Buffer.concat([this.sessionId, Buffer.alloc(HEADER_BYTES - SESSION_BYTES)]);
    header.writeBigUInt64BE(this.packetId, SESSION_BYTES);
    this.packetId += 1n;
    const padding = paddingFor(payload, target);
    const start = [Buffer.from([TYPE_CLIENT]), timestamp(), Buffer.from([padding.length >> 8, padding.length & 255])];
    return this.sealing.seal(header, Buffer.concat([...start, padding, encodeSocksAddress(target), payload]));
  }

  open(bytes: Buffer): { target: Target; payload: Buffer } | null {
    const { header, body } = this.sealing.open(bytes);
    const paddingAt = 1 + 8 + SESSION_BYTES;
    if (body.length < paddingAt + 2 || body[0] !== TYPE_SERVER)
      throw new ShadowsocksError('a datagram is not an answer');
    checkTimestamp(body, 1);
    if (!body.subarray(9, paddingAt).equals(this.sessionId))
      throw new ShadowsocksError('a datagram is of another session');
    this.countOnce(header);
    const address = decodeAddress(body, paddingAt + 2 + body.readUInt16BE(paddingAt));
    return address && { target: address.target, payload: body.subarray(address.end) };
  }

  private countOnce(header: Buffer): void {
    const packetId = Number(header.readBigUInt64BE(SESSION_BYTES));
    const session = this.sessionOf(header.toString('hex', 0, SESSION_BYTES));
    if (!Number.isSafeInteger(packetId) || !session?.window.accept(packetId)) {
      throw new ShadowsocksError('a datagram arrived twice');
    }
    session.lastAt = Date.now();
  }

  /** Null: a third session so soon is not allowed; the datagram is an old one of a forgotten session. */
  private sessionOf(id: string): ServerSession | null {
    const known = this.sessions.find((session) => session.id === id);
    if (known) return known;
    const [current, previous] = this.sessions;
    if (previous && previous.lastAt > Date.now() - SESSION_MS) return null;
    const session = { id, window: new ReplayWindow(), lastAt: 0 };
    this.sessions = current ? [session, current] : [session];
    return session;
  }
}

/** Pads DNS queries, which are so short that their length would reveal them. */
function paddingFor(payload: Buffer, { port }: Target): Buffer {
  return port === 53 && payload.length < MAX_PADDING
    ? freshBytes(1 + randomInt(MAX_PADDING - payload.length))
    : Buffer.alloc(0);
}

/** @param sessionId that of the sealing end. */
export function createSealing(keys: Keys2022, sessionId: Buffer): Sealing {
  return keys.method.blockAlgorithm === null ? createWhole(keys) : createSeparate(keys, sessionId);
}

/** The AES methods: the header is sealed as a single block and identifies the key of the body. */
function createSeparate({ method, identities, user }: Keys2022, sessionId: Buffer): Sealing {
  const { algorithm } = method;
  const way = identities.map((key, index) => ({
    key: createSecretKey(key),
    next: keyName(identities[index + 1] ?? user),
  }));
  const userKey = createSecretKey(user);
  const headerKey = way[0]?.key ?? userKey;
  const ownKey = subkey(user, sessionId);
  const serverKeys = new KeyCache(user);
  return {
    seal(header, body) {
      const blocks = [encryptBlock(method, headerKey, header)];
      for (const { key, next } of way) blocks.push(encryptBlock(method, key, xor(next, header)));
      const cipher = createCipheriv(algorithm, ownKey, header.subarray(4), AUTH_TAG);
      const sealed = cipher.update(body);
      cipher.final();
      return Buffer.concat([...blocks, sealed, cipher.getAuthTag()]);
    },
    open(bytes) {
      if (bytes.length < HEADER_BYTES + TAG_LENGTH) throw new ShadowsocksError('a datagram is too short');
      const header = decryptBlock(method, userKey, bytes.subarray(0, HEADER_BYTES));
      const key = serverKeys.of(header.subarray(0, SESSION_BYTES));
      const decipher = createDecipheriv(algorithm, key, header.subarray(4), AUTH_TAG);
      const body = decipher.update(bytes.subarray(HEADER_BYTES, -TAG_LENGTH));
      checkTag(decipher, bytes.subarray(-TAG_LENGTH));
      return { header, body };
    },
  };
}

/** ChaCha20-Poly1305: header and body are sealed together with a random nonce. */
function createWhole({ user }: Keys2022): Sealing {
  return {
    seal(header, body) {
      const nonce = freshBytes(XNONCE_BYTES);
      const sealed = xchacha20poly1305(user, nonce).encrypt(Buffer.concat([header, body]));
      return Buffer.concat([nonce, sealed]);
    },
    open(bytes) {
      if (bytes.length < XNONCE_BYTES + HEADER_BYTES + TAG_LENGTH)
        throw new ShadowsocksError('a datagram is too short');
      try {
        const cipher = xchacha20poly1305(user, bytes.subarray(0, XNONCE_BYTES));
        const plain = Buffer.from(cipher.decrypt(bytes.subarray(XNONCE_BYTES)));
        return { header: plain.subarray(0, HEADER_BYTES), body: plain.subarray(HEADER_BYTES) };
      } catch (error) {
        throw new ShadowsocksError('a datagram was not sealed with this key', { cause: error });
      }
    },
  };
}

/** The keys of the server's last two sessions, because deriving one costs more than opening a datagram. */
class KeyCache {
  private readonly user: Buffer;
  private readonly keys = new Map<string, KeyObject>();

  constructor(user: Buffer) {
    this.user = user;
  }

  of(sessionId: Buffer): KeyObject {
    const name = sessionId.toString('hex');
    const key = this.keys.get(name) ?? subkey(this.user, sessionId);
    this.keys.delete(name);
    this.keys.set(name, key);
    const [oldest] = this.keys.keys();
    if (this.keys.size > 2 && oldest !== undefined) this.keys.delete(oldest);
    return key;
  }
}

function xor(left: Buffer, right: Buffer): Buffer {
  return Buffer.from(left.map((byte, index) => byte ^ (right[index] ?? 0)));
}

const WINDOW = 2048;

/** Remembers which of the last packet ids were seen, so that each counts once (like RFC 6479). */
export class ReplayWindow {
  private readonly seen = new Uint8Array(WINDOW);
  /** The highest id so far. */
  private last = -1;

  /** True the first time. False: seen before, or too old to know. */
  accept(id: number): boolean {
    if (id <= this.last - WINDOW) return false;
    if (id > this.last) {
      const fresh = Math.min(id - this.last, WINDOW);
      for (let step = 0; step < fresh; step += 1) this.seen[(id - step) % WINDOW] = 0;
      this.last = id;
    } else if (this.seen[id % WINDOW] === 1) return false;
    this.seen[id % WINDOW] = 1;
    return true;
  }
}
