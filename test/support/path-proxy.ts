import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A reverse proxy that has a service below a path, and takes the path away before it asks. */
export class PathProxy implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;
  #isCut = false;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  /** `path` begins and ends with a slash. */
  static async start(target: string, path: string): Promise<PathProxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new PathProxy(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
    server.on('request', (asked: IncomingMessage, answer: ServerResponse) => {
      const below = asked.url?.startsWith(path) ? asked.url.slice(path.length) : undefined;
      if (proxy.#isCut) asked.socket.destroy();
      else if (below === undefined) answer.writeHead(404).end();
      else pass(asked, answer, new URL(`/${below}`, target));
    });
    return proxy;
  }

  /** Ends what runs and refuses what comes. */
  cut(): void {
    this.#isCut = true;
    this.#server.closeAllConnections();
  }

  mend(): void {
    this.#isCut = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }
}

function pass(asked: IncomingMessage, answer: ServerResponse, target: URL): void {
  const onward = request(target, { method: asked.method, headers: asked.headers }, (response) => {
    answer.writeHead(response.statusCode ?? 502, response.headers);
    response.on('error', () => answer.destroy()).pipe(answer);
  });
  onward.on('error', () => answer.destroy());
  answer.on('close', () => onward.destroy());
  asked.on('error', () => onward.destroy()).pipe(onward);
}
