import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server of lists on loopback, which answers what a test says. */
export class ListServer {
  /** What it answers; a text as a list with an entity tag. */
  answer: string | ((request: IncomingMessage, response: ServerResponse) => void) = '';
  /** Of each request: its If-None-Match. */
  readonly asked: (string | undefined)[] = [];
  private readonly server = createServer((request, response) => this.respond(request, response));

  async start(): Promise<this> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/list.txt`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private respond(request: IncomingMessage, response: ServerResponse): void {
    this.asked.push(request.headers['if-none-match']);
    if (typeof this.answer === 'function') return this.answer(request, response);
    const etag = `"${Buffer.from(this.answer).toString('base64url').slice(0, 60)}"`;
    if (request.headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
    else response.writeHead(200, { etag, 'content-type': 'text/plain' }).end(this.answer);
  }
}
