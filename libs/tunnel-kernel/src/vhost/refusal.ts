import type { Duplex } from 'node:stream';
import { setFlowTimeout } from '@gatehouse/net';

/** Answers a request that the parser could not read, and ends the connection. */
export function refuseUnread(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  if (error.code === 'HPE_HEADER_OVERFLOW') refuse(socket, '431 Request Header Fields Too Large', 'too_large');
  else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') refuse(socket, '408 Request Timeout', 'timeout');
  else refuse(socket, '400 Bad Request', 'syntax');
}

/** Answers without `node:http`, and ends the connection. */
export function refuse(socket: Duplex, status: string, error: string): void {
  socket.on('error', () => undefined);
  socket.end(`HTTP/1.1 ${status}\r\nX-Gw-Error: ${error}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
  // Keeps reading, so that a client that still sends does not block the close.
  socket.resume();
  const timer = setFlowTimeout(socket, () => socket.destroy(), 1000);
  socket.once('close', () => clearTimeout(timer));
}
