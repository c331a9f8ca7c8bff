import { chmodSync, rmSync } from 'node:fs';
import { createConnection, type AddressInfo, type Socket } from 'node:net';
import { createServer, type Server } from 'node:tls';
import type { ControlEndpoint } from './control-endpoint.js';
import { CONTROL_TLS, type ControlKey } from './control-key.js';
import { ControlLink, type ControlLinkLimits } from './control-link.js';

const HANDSHAKE_MS = 5_000;
/** Connections at a time, including those that have not authenticated yet; more where more are expected. */
export const SPARE_CONNECTIONS = 32;

export interface ControlServerOptions {
  /** Newest first. While a secret is being replaced, the other side may still have the previous one. */
  keys: readonly ControlKey[];
  onLink: (link: ControlLink) => void;
  /** Called for a connection that did not prove that it has the key. */
  onRefused?: (error: Error) => void;
  limits?: Partial<ControlLinkLimits>;
}

/** Accepts control links from clients that have the key. */
export class ControlServer {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private bound: ControlEndpoint | null = null;

  constructor({ keys, onLink, onRefused, limits }: ControlServerOptions) {
    const psks = new Map(keys.map(({ identity, psk }) => [identity, psk]));
    this.server = createServer({
      ...CONTROL_TLS,
      handshakeTimeout: HANDSHAKE_MS,
      pskCallback: (_socket, identity) => psks.get(identity) ?? null,
    });
    this.server.maxConnections = SPARE_CONNECTIONS;
    this.server.on('secureConnection', (socket) => onLink(new ControlLink(socket, limits)));
    this.server.on('tlsClientError', (error) => onRefused?.(error));
    this.server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => this.sockets.delete(socket));
    });
  }

  /** Returns where it listens, with the port that was really bound. @throws Error of `listen`. */
  async listen(endpoint: ControlEndpoint): Promise<ControlEndpoint> {
    if ('path' in endpoint) await removeAbandoned(endpoint.path);
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(endpoint, () => {
        this.server.off('error', reject);
        // A later error belongs to one connection only.
        this.server.on('error', () => undefined);
        resolve();
      });
    });
    if ('path' in endpoint) chmodSync(endpoint.path, 0o600);
    this.bound =
      'path' in endpoint ? endpoint : { host: endpoint.host, port: (this.server.address() as AddressInfo).port };
    return this.bound;
  }

  /** So many clients are expected: there is room for each of them, besides the usual. */
  expect(clients: number): void {
    this.server.maxConnections = SPARE_CONNECTIONS + clients;
  }

  /** Releases the port; open links stay. */
  stopListening(): void {
    // This releases the port at once.
    if (this.server.listening) this.server.close();
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }
}

/** Removes the socket file that a killed process left behind. A socket that a process listens on stays. */
function removeAbandoned(path: string): Promise<void> {
  return new Promise((resolve) => {
    const probe = createConnection({ path });
    probe.on('connect', () => {
      probe.destroy();
      resolve();
    });
    probe.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') rmSync(path, { force: true });
      resolve();
    });
  });
}
