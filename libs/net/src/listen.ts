import type { AddressInfo, Server } from 'node:net';

/** Connections that the system may queue while this process is busy, if it allows that many. */
const BACKLOG = 4096;

/**
 * Listens and returns the port.
 * @param to an address, or a socket that already listens (`ListeningSockets`). `shared`: other processes of the same user may
 * listen there as well, and the system divides the connections among them (SO_REUSEPORT)
 * @param onFailure called when accepting a connection fails later; the server keeps listening
 * @throws Error of `listen` (EADDRINUSE, EACCES, EADDRNOTAVAIL); the server may listen again after it
 */
export function listenTcp(
  server: Server,
  to: { readonly host: string; readonly port: number; readonly shared?: boolean } | { close(): void },
  onFailure: (error: Error) => void,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const refused = (error: Error): void => {
      server.off('listening', listening);
      reject(error);
    };
    const listening = (): void => {
      server.off('error', refused).on('error', onFailure);
      // The server may listen again.
      server.once('close', () => server.off('error', onFailure));
      resolve((server.address() as AddressInfo).port);
    };
    server.once('error', refused).once('listening', listening);
    if ('host' in to) {
      server.listen({ host: to.host, port: to.port, backlog: BACKLOG, reusePort: to.shared ?? false });
    } else server.listen(to, BACKLOG);
  });
}
