import type { TLSSocket } from 'node:tls';
import { parseAgentKey } from '@gatehouse/tunnel-kernel';
import { becomes, dialTls } from './sockets.js';

/** Types of the control connection's messages that attacks use: docs/tunnel-protocol.md. */
export const MESSAGE = { auth: 1, rendezvous: 0x80, pathState: 0x90, carried: 0x91 } as const;

/** An agent of our own, which says whatever an attack wants. */
export class HandmadeAgent {
  private text = Buffer.alloc(0);

  private constructor(
    readonly control: TLSSocket,
    readonly from: string,
  ) {
    control.on('data', (part: Buffer) => (this.text = Buffer.concat([this.text, part]).subarray(-1_000_000)));
  }

  static async login(port: number, key: string, from: string): Promise<HandmadeAgent> {
    const agent = new HandmadeAgent(await dialTls({ port, from }, 'gwt/1'), from);
    const { secret } = parseAgentKey(key);
    const auth = { versions: [1], secret, agentId: `hostile-${from}`, epoch: 1, software: 'hostile/1' };
    agent.send(MESSAGE.auth, JSON.stringify(auth));
    await becomes(() => agent.text.length > 0, 10_000);
    return agent;
  }

  send(type: number, body: string | Buffer): boolean {
    return this.control.write(messageOf(type, Buffer.from(body)));
  }

  async sent(): Promise<void> {
    await becomes(() => !this.control.writableNeedDrain, 10_000);
  }

  /** What the server said in messages of that type, the oldest first. */
  received<T>(type: number): T[] {
    const bodies: T[] = [];
    for (let at = 0; at + 4 <= this.text.length;) {
      const end = at + 4 + this.text.readUIntBE(at + 1, 3);
      if (this.text[at] === type && end <= this.text.length) {
        bodies.push(JSON.parse(this.text.toString('utf8', at + 4, end)) as T);
      }
      at = end;
    }
    return bodies;
  }
}

/** A message with its type and length before it. */
export function messageOf(type: number, body: Buffer): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(body.length);
  header[0] = type;
  return Buffer.concat([header, body]);
}
