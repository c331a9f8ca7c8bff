import { createSocket } from 'node:dgram';
import { once } from 'node:events';

const HEADER_BYTES = 12;
const QUESTION_TAIL_BYTES = 4;
const TYPE_A = 1;
const SECONDS = 1;

/** Answers with all addresses of a name (RFC 1035), as the name server of a container network does for copies of a service. */
export class NameServer implements AsyncDisposable {
  private constructor(
    private readonly socket: ReturnType<typeof createSocket>,
    readonly address: string,
    readonly port: number,
  ) {}

  static async start(address: string, names: ReadonlyMap<string, readonly string[]>): Promise<NameServer> {
    const socket = createSocket('udp4');
    socket.on('error', () => undefined);
    socket.on('message', (question, { address: to, port }) => {
      const answer = answerTo(question, names);
      if (answer) socket.send(answer, port, to);
    });
    socket.bind(0, address);
    await once(socket, 'listening');
    return new NameServer(socket, address, socket.address().port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.close();
    await once(this.socket, 'close');
  }
}

/** Undefined: it is no question. */
function answerTo(question: Buffer, names: ReadonlyMap<string, readonly string[]>): Buffer | undefined {
  const end = question.indexOf(0, HEADER_BYTES) + 1;
  if (end <= HEADER_BYTES || question.length < end + QUESTION_TAIL_BYTES) return undefined;
  const addresses = question.readUInt16BE(end) === TYPE_A ? (names.get(nameIn(question, end)) ?? []) : [];
  const header = Buffer.alloc(HEADER_BYTES);
  question.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  // The name by reference, type A, class IN, its time to live, four bytes.
  const records = addresses.map((address) =>
    Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, SECONDS, 0, 4, ...address.split('.').map(Number)]),
  );
  return Buffer.concat([header, question.subarray(HEADER_BYTES, end + QUESTION_TAIL_BYTES), ...records]);
}

function nameIn(question: Buffer, end: number): string {
  const labels: string[] = [];
  for (let at = HEADER_BYTES; at < end - 1; at += 1 + (question[at] ?? 0)) {
    labels.push(question.toString('latin1', at + 1, at + 1 + (question[at] ?? 0)));
  }
  return labels.join('.').toLowerCase();
}
