/** The HTTP/1.1 exchange that opens a WebSocket (RFC 6455 4) or a raw stream (`httpupgrade`). */
import { switchesTo, type ByteReader } from '@gatehouse/net';
import { DialError } from '../interfaces/index.js';

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const MAX_HEAD_BYTES = 16 * 1024;
/** As browsers send it; many front servers refuse requests without one. */
const USER_AGENT = 'Mozilla/5.0';

/** Names and values of header fields; a later one replaces an earlier one with the same name. */
export type HeaderFields = Readonly<Record<string, string>>;

/**
 * A `GET` request with these header fields. A node may come from a subscription, so invalid header fields are left out.
 */
export function formatRequest(path: string, host: string, ...fields: readonly HeaderFields[]): Buffer {
  const lines = new Map<string, string>();
  for (const field of [{ Host: host, 'User-Agent': USER_AGENT }, ...fields]) {
    for (const [name, value] of Object.entries(field)) {
      if (isFieldName(name) && isFieldValue(value)) lines.set(name.toLowerCase(), `${name}: ${value}\r\n`);
    }
  }
  return Buffer.from(`GET ${requestTarget(path)} HTTP/1.1\r\n${[...lines.values()].join('')}\r\n`);
}

/** Path and query in the characters that a request line allows (RFC 3986). */
export function requestTarget(path: string): string {
  const rooted = path.startsWith('/') ? path : `/${path}`;
  // oxlint-disable-next-line no-control-regex
  return rooted.replaceAll(/[^!-~]|["<>\\^`{|}]/gu, (character) => encodeURIComponent(character));
}

/** The value of a header field, ignoring the case of its name. */
export function fieldOf(headers: HeaderFields | undefined, wanted: string): string | undefined {
  return Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === wanted)?.[1];
}

export interface UpgradeAnswer {
  status: number;
  /** By lower-case name; the last of several. */
  headers: ReadonlyMap<string, string>;
}

/** @throws ByteReaderError; DialError for anything but an HTTP answer. */
export async function readAnswer(reader: ByteReader): Promise<UpgradeAnswer> {
  for (;;) {
    const answer = parseAnswer((await reader.readThrough(END_OF_HEAD)).toString('latin1'));
    // Other 1xx answers come before the final one.
    if (answer.status === 101 || answer.status >= 200) return answer;
  }
}

/** @throws DialError kind `protocol_error`, or the kind of the status, unless the server switched protocols. */
export function checkSwitched({ status, headers }: UpgradeAnswer, protocol: string): void {
  if (status !== 101) {
    const kind = status === 401 || status === 403 ? 'auth_failed' : 'protocol_error';
    throw new DialError('handshake', kind, `the server answered ${status} instead of switching to ${protocol}`);
  }
  if (!switchesTo(protocol, (name) => headers.get(name))) {
    throw new DialError('handshake', 'protocol_error', `the server did not switch to ${protocol}`);
  }
}

/** Collects the bytes of an answer. */
export class AnswerCollector {
  private collected: Buffer = Buffer.alloc(0);

  /**
   * Returns the answer and the bytes after it; null if it is not complete. @throws DialError for anything else, or if
   * it is too long.
   */
  push(bytes: Buffer): { answer: UpgradeAnswer; rest: Buffer } | null {
    this.collected = Buffer.concat([this.collected, bytes]);
    for (;;) {
      const end = this.collected.indexOf(END_OF_HEAD);
      if (end < 0) break;
      const answer = parseAnswer(this.collected.toString('latin1', 0, end));
      this.collected = this.collected.subarray(end + END_OF_HEAD.length);
      if (answer.status === 101 || answer.status >= 200) return { answer, rest: this.collected };
    }
    if (this.collected.length <= MAX_HEAD_BYTES) return null;
    throw new DialError('handshake', 'protocol_error', "the server's answer is too long");
  }
}

function parseAnswer(head: string): UpgradeAnswer {
  const [first = '', ...lines] = head.split('\r\n');
  const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(first)?.[1] ?? 0);
  if (status < 100) throw new DialError('handshake', 'protocol_error', 'the server did not answer with HTTP');
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  return { status, headers };
}

function isFieldName(name: string): boolean {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name);
}

function isFieldValue(value: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return !/[\u0000-\u0008\u000a-\u001f\u007f]/.test(value);
}
