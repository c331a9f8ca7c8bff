import type { Socket } from 'node:net';

/** An address and a port, in canonical text. */
export interface Endpoint {
  address: string;
  port: number;
}

/** An end of a socket in canonical text. The far end's address is unknown once it is gone. */
export function endpoint(address = '0.0.0.0', port = 0): Endpoint {
  // A zone names an interface of this machine; it means nothing elsewhere.
  return { address: address.replace(/^::ffff:(?=\d+\.)/, '').replace(/%.*$/, ''), port };
}

/**
 * Whom a connection is from. Null: it was reset already, and the system does not know any more. Who is nobody is let in
 * nowhere: rules about addresses could not hold, and what was sent before the reset can be read all the same.
 */
export function farEnd({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): Endpoint | null {
  return remoteAddress === undefined ? null : endpoint(remoteAddress, remotePort);
}
