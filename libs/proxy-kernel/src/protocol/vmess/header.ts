/** The request and the answer of VMess AEAD. Pure: randomness and time are parameters. */
import { createCipheriv, createDecipheriv, createHash, createSecretKey, createHmac, type KeyObject } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Target } from '../../interfaces/index.js';
import { encodePortFirst } from '../port-first-address.js';

export const COMMAND = { tcp: 1, udp: 2 } as const;
const SECURITY = { 'aes-128-gcm': 3, 'chacha20-poly1305': 4, none: 5 } as const;
export type Security = keyof typeof SECURITY;
export const OPTION = { chunkStream: 1, chunkMasking: 4, globalPadding: 8 } as const;

const VERSION = 1;
const TAG_BYTES = 16;
const MAX_PADDING = 15;
export const SEALED_LENGTH_BYTES = 2 + TAG_BYTES;

/** Random bytes that must never be used for two requests. */
export interface RequestRandom {
  /** 16 bytes. */
  key: Buffer;
  /** 16 bytes. */
  iv: Buffer;
  /** 1 byte, which the answer repeats. */
  mark: Buffer;
  /** 8 bytes. */
  nonce: Buffer;
  /** 4 bytes. */
  authId: Buffer;
  /** 0 to 15 bytes. */
  padding: Buffer;
}

export interface Request {
  command: number;
  security: Security;
  options: number;
  target: Target;
}

/** The keys of a user. */
export interface Account {
  commandKey: Buffer;
  authIdKey: KeyObject;
}

export class VmessError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'VmessError';
  }
}

export function createAccount(id: Buffer): Account {
  const key = commandKey(id);
  return { commandKey: key, authIdKey: createSecretKey(deriveCipherKey(key, 'AES Auth ID Encryption')) };
}

/** Takes 45 random bytes and up to 15 of padding. */
export function takeRandom(draw: (count: number) => Buffer): RequestRandom {
  const [length = 0] = draw(1);
  return {
    key: draw(16),
    iv: draw(16),
    mark: draw(1),
    nonce: draw(8),
    authId: draw(4),
    padding: draw(length & MAX_PADDING),
  };
}

/**
 * `auth id ‖ sealed length ‖ nonce ‖ sealed instruction`. `seconds` since the epoch: servers allow two minutes of
 * difference.
 */
export function sealRequest(account: Account, request: Request, random: RequestRandom, seconds: number): Buffer {
  const authId = createAuthId(account, random.authId, seconds);
  const instruction = encodeInstruction(request, random);
  const length = Buffer.from([instruction.length >> 8, instruction.length & 255]);
  const key = (label: string): Buffer => deriveCipherKey(account.commandKey, label, authId, random.nonce);
  const nonce = (label: string): Buffer => deriveNonce(account.commandKey, label, authId, random.nonce);
  return Buffer.concat([
    authId,
    seal(key('VMess Header AEAD Key_Length'), nonce('VMess Header AEAD Nonce_Length'), length, authId),
    random.nonce,
    seal(key('VMess Header AEAD Key'), nonce('VMess Header AEAD Nonce'), instruction, authId),
  ]);
}

/** Opens the answer's length and then the answer, with keys derived from the request's key and iv. */
export class AnswerOpener {
  private readonly key: Buffer;
  private readonly iv: Buffer;

  constructor(responseKey: Buffer, responseIv: Buffer) {
    this.key = responseKey;
    this.iv = responseIv;
  }

  /** The length of the sealed answer that follows. @throws VmessError. */
  openLength(sealed: Buffer): number {
    const key = deriveCipherKey(this.key, 'AEAD Resp Header Len Key');
    return open(key, deriveNonce(this.iv, 'AEAD Resp Header Len IV'), sealed).readUInt16BE() + TAG_BYTES;
  }

  /** @throws VmessError for an answer to another request. */
  check(sealed: Buffer, mark: number): void {
    const answer = open(
      deriveCipherKey(this.key, 'AEAD Resp Header Key'),
      deriveNonce(this.iv, 'AEAD Resp Header IV'),
      sealed,
    );
    if (answer.length < 4 || answer[0] !== mark) throw new VmessError('the answer belongs to another request');
  }
}

/** The secret for the response: the first half of the hash of the request's. */
export function responseSecret(requestSecret: Buffer): Buffer {
  return createHash('sha256').update(requestSecret).digest().subarray(0, 16);
}

/** `AES(seconds(8) ‖ random(4) ‖ CRC-32 of both)`. */
function createAuthId({ authIdKey }: Account, random: Buffer, seconds: number): Buffer {
  const plain = Buffer.alloc(16);
  plain.writeBigInt64BE(BigInt(seconds));
  random.copy(plain, 8);
  plain.writeUInt32BE(crc32(plain.subarray(0, 12)), 12);
  return createCipheriv('aes-128-ecb', authIdKey, null).setAutoPadding(false).update(plain);
}

function encodeInstruction({ command, security, options, target }: Request, random: RequestRandom): Buffer {
  const { key, iv, mark, padding } = random;
  const head = Buffer.concat([
    Buffer.from([VERSION]),
    iv,
    key,
    mark,
    Buffer.from([options, (padding.length << 4) | SECURITY[security], 0, command]),
    encodePortFirst(target),
    padding,
    Buffer.alloc(4),
  ]);
  head.writeUInt32BE(fnv1a(head.subarray(0, -4)), head.length - 4);
  return head;
}

/** FNV-1a, 32 bits. */
export function fnv1a(bytes: Buffer): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

function seal(key: Buffer, nonce: Buffer, plain: Buffer, associated: Buffer): Buffer {
  const cipher = createCipheriv('aes-128-gcm', createSecretKey(key), nonce).setAAD(associated);
  const sealed = cipher.update(plain);
  cipher.final();
  return Buffer.concat([sealed, cipher.getAuthTag()]);
}

function open(key: Buffer, nonce: Buffer, sealed: Buffer): Buffer {
  const decipher = createDecipheriv('aes-128-gcm', createSecretKey(key), nonce, { authTagLength: TAG_BYTES });
  const plain = decipher.update(sealed.subarray(0, -TAG_BYTES));
  try {
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    decipher.final();
  } catch (error) {
    throw new VmessError('the server does not know this user', { cause: error });
  }
  return plain;
}

const SALT = 'VMess AEAD KDF';
const BLOCK_BYTES = 64;
const KEY_BYTES = 16;
const NONCE_BYTES = 12;

type Hash = (message: Buffer) => Buffer;

/** The 32 bytes that VMess AEAD derives from `key`: HMAC-SHA256 whose hash is again an HMAC, one level for each part of `path`. */
export function deriveKey(key: Buffer, ...path: readonly (string | Buffer)[]): Buffer {
  const salted: Hash = (message) => createHmac('sha256', SALT).update(message).digest();
  return path.reduce<Hash>((hash, part) => hmacOver(hash, Buffer.from(part)), salted)(key);
}

export function deriveCipherKey(key: Buffer, ...path: readonly (string | Buffer)[]): Buffer {
  return deriveKey(key, ...path).subarray(0, KEY_BYTES);
}

export function deriveNonce(key: Buffer, ...path: readonly (string | Buffer)[]): Buffer {
  return deriveKey(key, ...path).subarray(0, NONCE_BYTES);
}

/** The key that commands are sealed with: MD5 of the user's id and a constant of VMess. */
export function commandKey(id: Buffer): Buffer {
  return createHash('md5').update(id).update('c48619fe-8f02-49e0-b9e9-edf763e17e21').digest();
}

/** HMAC (RFC 2104) over any hash with blocks of 64 bytes. */
function hmacOver(hash: Hash, key: Buffer): Hash {
  const padded = Buffer.alloc(BLOCK_BYTES);
  (key.length > BLOCK_BYTES ? hash(key) : key).copy(padded);
  const inner = Buffer.from(padded.map((byte) => byte ^ 0x36));
  const outer = Buffer.from(padded.map((byte) => byte ^ 0x5c));
  return (message) => hash(Buffer.concat([outer, hash(Buffer.concat([inner, message]))]));
}
