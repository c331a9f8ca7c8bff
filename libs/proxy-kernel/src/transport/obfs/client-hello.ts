/** The ClientHello of simple-obfs: TLS 1.2 to look at, with the first bytes in place of a session ticket. */
import { randomBytes } from 'node:crypto';

const CIPHER_SUITES = Buffer.from(
  'c02cc030009fcca9cca8ccaac02bc02f009ec024c028006bc023c0270067c00ac0140039c009c0130033009d009c003d003c0035002f00ff',
  'hex',
);
/** Point formats, groups, signature algorithms, encrypt-then-MAC, extended master secret. */
const OTHER_EXTENSIONS = Buffer.from(
  '000b000403000102000a000a0008001d001700190018000d0020001e060106020603050105020503040104020403030103020303020102020203' +
    '0016000000170000',
  'hex',
);
const EXTENSION = { serverName: 0, sessionTicket: 0x23 } as const;

/** `ticket`: at most 8 KiB. */
export function clientHello(host: string, ticket: Uint8Array): Buffer {
  const name = Buffer.from(host);
  const entry = Buffer.concat([Buffer.from([0]), sized(2, name)]);
  const extensions = Buffer.concat([
    extension(EXTENSION.sessionTicket, ticket),
    extension(EXTENSION.serverName, sized(2, entry)),
    OTHER_EXTENSIONS,
  ]);
  const now = Buffer.alloc(4);
  now.writeUInt32BE(Math.floor(Date.now() / 1000));
  const version = Buffer.from([3, 3]);
  const body = [version, now, randomBytes(28), sized(1, randomBytes(32)), sized(2, CIPHER_SUITES), Buffer.from([1, 0])];
  const hello = Buffer.concat([Buffer.from([1]), sized(3, Buffer.concat([...body, sized(2, extensions)]))]);
  return Buffer.concat([Buffer.from([22, 3, 1]), sized(2, hello)]);
}

function extension(type: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([type >> 8, type & 255]), sized(2, content)]);
}

/** With its length in front, in so many bytes. */
function sized(bytes: number, content: Uint8Array): Buffer {
  const length = Buffer.alloc(bytes);
  length.writeUIntBE(content.length, 0, bytes);
  return Buffer.concat([length, content]);
}
