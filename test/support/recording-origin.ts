import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

export interface RecordedHead {
  method: string;
  target: string;
  /** Name in lower case and value, in order. */
  fields: [name: string, value: string][];
  body: string;
}

const LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*$/;
const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\/[\x21-\x7e]*) HTTP\/1\.1$/;
const ANSWER = 'HTTP/1.1 200 OK\r\nX-Served: ';

/**
 * An origin that reads bytes by the letter of RFC 9112 and by nothing else, records each request that is complete, and
 * notes everything that an origin could read in another way.
 */
export class RecordingOrigin {
  readonly requests: RecordedHead[] = [];
  readonly doubts: string[] = [];
  readonly port: number;
  readonly #close: () => void;

  private constructor(port: number, close: () => void) {
    this.port = port;
    this.#close = close;
  }

  static async start(): Promise<RecordingOrigin> {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket.on('close', () => sockets.delete(socket)));
      socket.on('error', () => undefined);
      origin.#serve(socket);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const origin = new RecordingOrigin((server.address() as AddressInfo).port, () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return origin;
  }

  close(): void {
    this.#close();
  }

  #serve(socket: Socket): void {
    let rest = '';
    socket.on('data', (part: Buffer) => {
      rest += part.toString('latin1');
      for (;;) {
        const read = this.#read(rest);
        if (!read) return;
        rest = rest.slice(read.bytes);
        this.requests.push(read.request);
        const length = read.request.method === 'HEAD' ? '' : 'Content-Length: 2\r\n';
        const body = read.request.method === 'HEAD' ? '' : 'ok';
        socket.write(`${ANSWER}${this.requests.length}\r\n${length}\r\n${body}`);
      }
    });
  }

  /** The first request of `text`; null where it is not complete. */
  #read(text: string): { request: RecordedHead; bytes: number } | null {
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) return null;
    const [first = '', ...lines] = text.slice(0, end).split('\r\n');
    const asked = REQUEST_LINE.exec(first);
    if (!asked) this.doubts.push(`request line ${JSON.stringify(first)}`);
    const fields = lines.map((line): [string, string] => {
      const field = LINE.exec(line);
      if (!field) this.doubts.push(`field ${JSON.stringify(line)}`);
      return [(field?.[1] ?? '').toLowerCase(), field?.[2] ?? ''];
    });
    const request = { method: asked?.[1] ?? '', target: asked?.[2] ?? '', fields, body: '' };
    return this.#withBody(request, text, end + 4);
  }

  #withBody(request: RecordedHead, text: string, from: number): { request: RecordedHead; bytes: number } | null {
    const all = (name: string): string[] => request.fields.filter(([own]) => own === name).map(([, value]) => value);
    const [lengths, codings] = [all('content-length'), all('transfer-encoding')];
    if (all('host').length !== 1) this.doubts.push(`hosts ${JSON.stringify(all('host'))}`);
    if (lengths.length + codings.length > 1) this.doubts.push('more than one way to the end of a body');
    if (lengths.some((text) => !/^(?:0|[1-9]\d*)$/.test(text))) this.doubts.push(`length ${JSON.stringify(lengths)}`);
    if (codings.some((text) => text !== 'chunked')) this.doubts.push(`coding ${JSON.stringify(codings)}`);
    if (codings.length > 0) {
      const body = this.#chunks(text, from);
      return body && { request: { ...request, body: body.text }, bytes: body.end };
    }
    const end = from + Number(lengths[0] ?? 0);
    if (text.length < end) return null;
    return { request: { ...request, body: text.slice(from, end) }, bytes: end };
  }

  #chunks(text: string, from: number): { text: string; end: number } | null {
    let body = '';
    for (let at = from; ;) {
      const end = text.indexOf('\r\n', at);
      if (end < 0) return null;
      const line = text.slice(at, end);
      if (!/^[0-9a-f]+$/i.test(line)) this.doubts.push(`chunk ${JSON.stringify(line)}`);
      const size = Number.parseInt(line, 16);
      at = end + 2;
      if (size === 0) {
        const close = text.startsWith('\r\n', at) ? at : text.indexOf('\r\n\r\n', at) + 2;
        return close < at ? null : { text: body, end: close + 2 };
      }
      if (text.length < at + size + 2) return null;
      body += text.slice(at, at + size);
      if (text.slice(at + size, at + size + 2) !== '\r\n') this.doubts.push('a chunk without an end');
      at += size + 2;
    }
  }
}
