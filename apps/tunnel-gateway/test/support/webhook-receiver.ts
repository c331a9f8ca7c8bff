import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AnyJson } from './tunnel-world.js';

export interface ReceivedMessage {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  body: AnyJson;
}

/** A server that webhooks lead to. */
export class WebhookReceiver implements AsyncDisposable {
  readonly received: ReceivedMessage[] = [];
  /** Statuses of the next answers; then 204. */
  readonly answers: number[] = [];
  /** Takes messages and answers none. */
  silent = false;
  connections = 0;
  private readonly server: Server;

  private constructor() {
    this.server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const text = Buffer.concat(parts).toString();
        this.received.push({
          path: request.url ?? '',
          headers: request.headers,
          text,
          body: JSON.parse(text || 'null'),
        });
        if (this.silent) return;
        const status = this.answers.shift() ?? 204;
        response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end();
      });
    });
    this.server.on('connection', () => (this.connections += 1));
  }

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    receiver.server.listen(0, '127.0.0.1');
    await once(receiver.server, 'listening');
    return receiver;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}

/** As receivers of Standard Webhooks do it. */
export function isSignedBy(secret: string, { headers, text }: ReceivedMessage): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } = headers;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key)
    .update(`${String(id)}.${String(time)}.${text}`)
    .digest('base64');
  return signature === `v1,${expected}` && Math.abs(Date.now() / 1_000 - Number(time)) < 60;
}
