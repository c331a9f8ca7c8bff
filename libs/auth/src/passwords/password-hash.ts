import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { inTurn } from './hashing-turns.js';

interface Argon2Settings {
  /** KiB. */
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

interface StoredHash extends Argon2Settings {
  readonly salt: Buffer;
  readonly tag: Buffer;
}

/** Cost of a new hash: OWASP's first choice for argon2id. */
let current: Argon2Settings = { memory: 19_456, passes: 2, parallelism: 1 };
const SALT_BYTES = 16;
const TAG_BYTES = 32;
/** Longer passwords are refused unread: hashing them would only help an attacker. */
const MAX_PASSWORD_BYTES = 1_024;
/** A stored hash sets the amount of memory, so a manipulated one must not take all of it. */
const MAX_MEMORY = 262_144;
const MAX_PASSES = 16;

/**
 * Makes new hashes of this process cheaper. Only for tests, which hash thousands of passwords: test/architecture holds that.
 * A hash names its cost, so every process can check it.
 */
export function makeHashesCheap(): void {
  current = { memory: 64, passes: 1, parallelism: 1 };
}

/** argon2id (RFC 9106) as a PHC string that carries its own parameters. @throws RangeError above 1024 bytes. */
export async function hashPassword(password: string): Promise<string> {
  if (Buffer.byteLength(password) > MAX_PASSWORD_BYTES) throw new RangeError('A password has at most 1024 bytes.');
  const salt = randomBytes(SALT_BYTES);
  const tag = await inTurn(() => derive(password, salt, current, TAG_BYTES));
  const { memory, passes, parallelism } = current;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(tag)}`;
}

/**
 * Compares in constant time. Without a stored hash it takes as long and returns false, so that unknown users cannot be
 * detected.
 */
export async function verifyPassword(password: string, stored: string | null | undefined): Promise<boolean> {
  if (Buffer.byteLength(password) > MAX_PASSWORD_BYTES) return false;
  const known = parse(stored ?? '');
  const against = known ?? { ...current, ...DECOY };
  const tag = await inTurn(() => derive(password, against.salt, against, against.tag.length));
  return timingSafeEqual(tag, against.tag) && known !== undefined;
}

/** True if a hash has outdated parameters: hash the password again at the next login. */
export function needsRehash(stored: string): boolean {
  const hash = parse(stored);
  if (hash === undefined) return true;
  const { memory, passes, parallelism } = current;
  return hash.memory !== memory || hash.passes !== passes || hash.parallelism !== parallelism;
}

const DECOY = { salt: randomBytes(SALT_BYTES), tag: randomBytes(TAG_BYTES) };

const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

function parse(stored: string): StoredHash | undefined {
  const match = PHC.exec(stored);
  if (match === null) return undefined;
  const [, memory, passes, parallelism, salt = '', tag = ''] = match;
  const hash = {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
  const sane =
    hash.memory >= 8 * hash.parallelism &&
    hash.memory <= MAX_MEMORY &&
    hash.passes >= 1 &&
    hash.passes <= MAX_PASSES &&
    hash.parallelism >= 1;
  return sane ? hash : undefined;
}

async function derive(password: string, nonce: Buffer, settings: Argon2Settings, tagLength: number): Promise<Buffer> {
  const { memory, passes, parallelism } = settings;
  return new Promise((resolve, reject) => {
    // One normal form of a password, whatever the keyboard composed.
    const message = Buffer.from(password.normalize('NFKC'));
    argon2('argon2id', { message, nonce, memory, passes, parallelism, tagLength }, (error, tag) => {
      if (error === null) resolve(tag);
      else reject(error);
    });
  });
}

function encode(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
