/** A message of PostgreSQL's protocol 3, as it was sent. */
export interface PostgresMessage {
  /** The first byte as a letter; empty for the startup message, which has none. */
  type: string;
  bytes: Buffer;
}

const TYPED_HEADER = 5;
const STARTUP_HEADER = 4;

/**
 * Cuts one direction of a connection into whole messages (PostgreSQL documentation, "Message Formats"). It knows no
 * encryption: a client that asks for TLS must be refused before.
 */
export class MessageReader {
  private pending: Buffer = Buffer.alloc(0);

  /** `expectsStartup`: the first message has no type byte, as that of a client. */
  constructor(private expectsStartup: boolean) {}

  read(chunk: Buffer): PostgresMessage[] {
    this.pending = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk]);
    const messages: PostgresMessage[] = [];
    for (let message = this.next(); message !== undefined; message = this.next()) messages.push(message);
    return messages;
  }

  private next(): PostgresMessage | undefined {
    const header = this.expectsStartup ? STARTUP_HEADER : TYPED_HEADER;
    if (this.pending.length < header) return undefined;
    // The length counts itself, and not the type byte.
    const total = this.pending.readInt32BE(header - 4) + header - 4;
    if (this.pending.length < total) return undefined;
    const bytes = this.pending.subarray(0, total);
    this.pending = this.pending.subarray(total);
    const type = this.expectsStartup ? '' : String.fromCharCode(bytes[0] ?? 0);
    this.expectsStartup = false;
    return { type, bytes };
  }
}

/** The strings that a message's body begins with, each ended by a zero byte. */
export function leadingStrings({ bytes }: PostgresMessage, count: number): string[] {
  const strings: string[] = [];
  let from = TYPED_HEADER;
  while (strings.length < count) {
    const end = bytes.indexOf(0, from);
    if (end < 0) break;
    strings.push(bytes.toString('utf8', from, end));
    from = end + 1;
  }
  return strings;
}
