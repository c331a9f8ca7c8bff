import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type AnyJson = any;

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
  /** The body of every answer but a 204. */
  text = '';
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
        response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {});
        response.end(status === 204 ? undefined : this.text);
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

/** By the library of the standard's makers. */
export function isSignedBy(secret: string, { headers, text }: ReceivedMessage): boolean {
  try {
    new Webhook(secret).verify(text, headers as Record<string, string>);
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}
