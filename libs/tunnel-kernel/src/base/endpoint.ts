import type { Socket } from 'node:net';

/** An address and a port, in canonical text. */
export interface Endpoint {
  address: string;
  port: number;
}

/** One end of a socket in canonical text. The far end's address is unknown once it has closed. */
export function endpoint(address = '0.0.0.0', port = 0): Endpoint {
  // A zone names an interface of this machine and is meaningless elsewhere.
  return { address: address.replace(/^::ffff:(?=\d+\.)/, '').replace(/%.*$/, ''), port };
}

/**
 * The peer of a connection. Null: it was reset, and the system no longer knows its address. Such a connection must be
 * refused everywhere: address rules could not be applied, although what was sent before the reset can still be read.
 */
export function farEnd({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): Endpoint | null {
  return remoteAddress === undefined ? null : endpoint(remoteAddress, remotePort);
}
