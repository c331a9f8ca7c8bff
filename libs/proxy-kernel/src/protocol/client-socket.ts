import type { Socket } from 'node:net';
import { setFlowTimeout } from '@gatehouse/net';

/** How long a client may take to read a last answer and close. */
const LINGER_MS = 2000;

/**
 * Sends a last answer and closes. Data that the client still sends is read and dropped meanwhile: closing a socket with
 * unread bytes resets it, and the client would lose the answer.
 */
export function endGently(socket: Socket, answer?: Uint8Array): void {
  if (socket.destroyed) return;
  if (answer) socket.end(answer);
  else socket.end();
  const timer = setFlowTimeout(null, () => socket.destroy(), LINGER_MS);
  timer.unref();
  socket.once('close', () => clearTimeout(timer));
  socket.once('end', () => socket.destroySoon());
  socket.resume();
}

/** Leaves a client without an answer for a while, then closes the connection. */
export function leaveUnanswered(socket: Socket, ms: number): void {
  if (socket.destroyed) return;
  const timer = setFlowTimeout(null, () => socket.destroy(), ms);
  timer.unref();
  socket.once('close', () => clearTimeout(timer));
  socket.once('end', () => socket.destroy());
  socket.resume();
}

/** The address without the v4-mapped prefix that a dual-stack listener adds. */
export function plainAddress(address: string | undefined): string {
  if (!address) return '';
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}
