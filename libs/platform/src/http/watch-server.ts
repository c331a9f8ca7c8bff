import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

export interface WatchAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** The answer for each path. Null is 404, and so are other paths. */
export type WatchRoutes = Readonly<
  Record<string, (request: IncomingMessage) => WatchAnswer | null | Promise<WatchAnswer | null>>
>;

/**
 * A small separate HTTP server for programs that monitor a process: health checks, Prometheus. @throws Error of
 * `listen`
 */
export async function serveWatchers(
  target: { readonly port: number; readonly address: string },
  routes: WatchRoutes,
): Promise<Server> {
  const server = createServer({ headersTimeout: 5_000, requestTimeout: 5_000, keepAliveTimeout: 1_000 });
  server.maxConnections = 64;
  server.on('request', (request, response) => {
    request.resume();
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    void answer(request, response, Object.hasOwn(routes, path) ? routes[path] : undefined);
  });
  server.listen(target.port, target.address);
  await once(server, 'listening');
  server.on('error', () => undefined);
  return server;
}

/** An answer with JSON. */
export function jsonAnswer(status: number, body: object): WatchAnswer {
  return { status, contentType: 'application/json', text: JSON.stringify(body) };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  route: WatchRoutes[string] | undefined,
): Promise<void> {
  let found: WatchAnswer;
  try {
    found = (await route?.(request)) ?? jsonAnswer(404, { status: 'unknown' });
  } catch {
    found = jsonAnswer(500, { status: 'failed' });
  }
  response.writeHead(found.status, { 'Content-Type': found.contentType, 'Cache-Control': 'no-store' });
  response.end(found.text);
}
