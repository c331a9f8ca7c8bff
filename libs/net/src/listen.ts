import type { AddressInfo, Server } from 'node:net';

/** Connections that the system may hold for us while we are busy, if it allows as many. */
const BACKLOG = 4096;

/**
 * Listens and answers the port. `to`: an address, or a socket that listens already (`ListeningSockets`). `onFailure`: of accepting, later on; it goes on then.
 * @throws Error of `listen` (EADDRINUSE, EACCES, EADDRNOTAVAIL); the server can be told to listen again.
 */
export function listenTcp(
  server: Server,
  to: { readonly host: string; readonly port: number } | { close(): void },
  onFailure: (error: Error) => void,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const refused = (error: Error): void => {
      server.off('listening', listening);
      reject(error);
    };
    const listening = (): void => {
      server.off('error', refused).on('error', onFailure);
      // It may be told again.
      server.once('close', () => server.off('error', onFailure));
      resolve((server.address() as AddressInfo).port);
    };
    server.once('error', refused).once('listening', listening);
    if ('host' in to) server.listen({ host: to.host, port: to.port, backlog: BACKLOG });
    else server.listen(to, BACKLOG);
  });
}
