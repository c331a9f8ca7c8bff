import { createHmac, timingSafeEqual } from 'node:crypto';

/** A shared key of HMAC-SHA256 (RFC 8945). */
export interface TsigKey {
  name: string;
  secret: Buffer;
}

/** Adds or removes one TXT record (RFC 2136). */
export interface TxtUpdate {
  zone: string;
  name: string;
  value: string;
  action: 'add' | 'remove';
}

export interface SignedUpdate {
  id: number;
  message: Buffer;
  /** The answer is signed over it. */
  mac: Buffer;
}

const UPDATE = 0x2800;
const TTL_SECONDS = 60;
const TXT = 16;
const SOA = 6;
const TSIG = 250;
const IN = 1;
const NONE = 254;
const ANY = 255;
/** How far the clocks of both sides may differ. */
const FUDGE_SECONDS = 300;
const HEADER_BYTES = 12;
const ALGORITHM = nameBytes('hmac-sha256');
const RESULTS: Readonly<Record<number, string>> = {
  1: 'FORMERR',
  2: 'SERVFAIL',
  3: 'NXDOMAIN',
  4: 'NOTIMP',
  5: 'REFUSED',
  6: 'YXDOMAIN',
  7: 'YXRRSET',
  8: 'NXRRSET',
  9: 'NOTAUTH',
  10: 'NOTZONE',
};
const KEY_RESULTS: Readonly<Record<number, string>> = { 16: 'BADSIG', 17: 'BADKEY', 18: 'BADTIME', 22: 'BADTRUNC' };

/** `at`: seconds since the epoch. */
export function signedUpdate(update: TxtUpdate, key: TsigKey, id: number, at: number): SignedUpdate {
  const { zone, name, value, action } = update;
  const data = Buffer.from(value, 'latin1');
  const text = Buffer.concat([Buffer.from([data.length]), data]);
  const [kind, ttl] = action === 'add' ? [IN, TTL_SECONDS] : [NONE, 0];
  const plain = Buffer.concat([
    numbers([id, UPDATE, 1, 0, 1, 0]),
    nameBytes(zone),
    numbers([SOA, IN]),
    nameBytes(name),
    numbers([TXT, kind, 0, ttl, text.length]),
    text,
  ]);
  const mac = macOf(key, [plain], at, { fudge: FUDGE_SECONDS, error: 0, other: Buffer.alloc(0) });
  const signature = Buffer.concat([
    ALGORITHM,
    timeBytes(at),
    numbers([FUDGE_SECONDS, mac.length]),
    mac,
    numbers([id, 0, 0]),
  ]);
  const tsig = Buffer.concat([nameBytes(key.name), numbers([TSIG, ANY, 0, 0, signature.length]), signature]);
  const message = Buffer.concat([plain, tsig]);
  message.writeUInt16BE(1, 10);
  return { id, message, mac };
}

/** @throws Error unless the server says, signed with the key, that it did what it was asked for */
export function checkAnswer(answer: Buffer, { id, mac }: SignedUpdate, key: TsigKey, at: number): void {
  if (answer.length < HEADER_BYTES || answer.readUInt16BE(0) !== id)
    throw new Error('its answer is not one to this update');
  const result = answer.readUInt16BE(2) & 0x0f;
  const signature = readSignature(answer);
  if (result !== 0) {
    const reason = KEY_RESULTS[signature?.error ?? 0];
    throw new Error(`it refused the update: ${RESULTS[result] ?? result}${reason === undefined ? '' : `, ${reason}`}`);
  }
  if (!signature) throw new Error('its answer is not signed');
  const { start, time, fudge, error, other } = signature;
  const plain = Buffer.from(answer.subarray(0, start));
  plain.writeUInt16BE(plain.readUInt16BE(10) - 1, 10);
  const expected = macOf(key, [numbers([mac.length]), mac, plain], time, { fudge, error, other });
  const isRight = signature.mac.length === expected.length && timingSafeEqual(signature.mac, expected);
  if (!isRight || signature.name !== canonical(key.name)) throw new Error('its answer is signed with another key');
  if (Math.abs(at - time) > FUDGE_SECONDS) throw new Error('its clock differs by more than five minutes');
}

interface Signature {
  /** Where its record begins. */
  start: number;
  name: string;
  time: number;
  fudge: number;
  mac: Buffer;
  error: number;
  other: Buffer;
}

/** The last record, if it is a signature; null: it is none, or cannot be read. */
function readSignature(message: Buffer): Signature | null {
  try {
    let at = HEADER_BYTES;
    for (let left = message.readUInt16BE(4); left > 0; left -= 1) at = skipName(message, at) + 4;
    const records = message.readUInt16BE(6) + message.readUInt16BE(8) + message.readUInt16BE(10);
    let start = at;
    for (let left = records; left > 0; left -= 1) {
      start = at;
      const fixed = skipName(message, at);
      at = fixed + 10 + message.readUInt16BE(fixed + 8);
    }
    const fixed = skipName(message, start);
    if (records === 0 || message.readUInt16BE(10) === 0 || message.readUInt16BE(fixed) !== TSIG) return null;
    return readTsig(message, start, fixed + 10);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function readTsig(message: Buffer, start: number, data: number): Signature {
  const algorithm = skipName(message, data);
  const macLength = message.readUInt16BE(algorithm + 8);
  const rest = algorithm + 10 + macLength;
  const other = message.readUInt16BE(rest + 4);
  return {
    start,
    name: readName(message, start),
    time: message.readUIntBE(algorithm, 6),
    fudge: message.readUInt16BE(algorithm + 6),
    mac: message.subarray(algorithm + 10, rest),
    error: message.readUInt16BE(rest + 2),
    other: message.subarray(rest + 6, rest + 6 + other),
  };
}

function macOf(
  key: TsigKey,
  parts: readonly Buffer[],
  at: number,
  { fudge, error, other }: Pick<Signature, 'fudge' | 'error' | 'other'>,
): Buffer {
  const hmac = createHmac('sha256', key.secret);
  for (const part of parts) hmac.update(part);
  hmac
    .update(nameBytes(key.name))
    .update(numbers([ANY, 0, 0]))
    .update(ALGORITHM)
    .update(timeBytes(at));
  return hmac
    .update(numbers([fudge, error, other.length]))
    .update(other)
    .digest();
}

/** The place after a name, which may end with a pointer to another one. */
function skipName(message: Buffer, from: number): number {
  for (let at = from; ;) {
    const length = message.readUInt8(at);
    if (length >= 0xc0) return at + 2;
    if (length === 0) return at + 1;
    at += length + 1;
  }
}

/** A name without pointers, as names of keys are written. */
function readName(message: Buffer, from: number): string {
  const labels: string[] = [];
  for (let at = from; ;) {
    const length = message.readUInt8(at);
    if (length === 0 || length >= 0xc0) return labels.join('.').toLowerCase();
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
}

function nameBytes(name: string): Buffer {
  const labels = canonical(name).split('.');
  const parts = labels.filter((label) => label !== '').map((label) => Buffer.from(label, 'latin1'));
  return Buffer.concat([...parts.flatMap((label) => [Buffer.from([label.length]), label]), Buffer.from([0])]);
}

function canonical(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

function numbers(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  values.forEach((value, at) => bytes.writeUInt16BE(value, at * 2));
  return bytes;
}

function timeBytes(seconds: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntBE(seconds, 0, 6);
  return bytes;
}
