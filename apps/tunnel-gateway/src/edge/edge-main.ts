/** The edge's process: gets its options over IPC, reads no environment, and ends with the channel. */
import { Socket } from 'node:net';
import type { SocketHandle } from '@gatehouse/net';
import { EdgeProgram } from './edge-program.js';
import type { EdgeMessage, ParentMessage } from '../common/edge-ipc.js';

/** Resolves when the channel has accepted the message. */
function send(message: EdgeMessage): Promise<void> {
  return new Promise((resolve) => {
    if (!process.send) throw new Error('This program is started by tunnel-gateway, not by hand.');
    // If the channel has closed, this process ends (`disconnect`).
    process.send(message, undefined, undefined, () => resolve());
  });
}

/** Node sends raw handles, but its types know only the objects around them. */
function sendSocket(message: EdgeMessage, handle: SocketHandle): void {
  process.send?.(message, handle as unknown as Socket, undefined, () => undefined);
}

const program = new EdgeProgram({ send, sendSocket, exit: (code) => process.exit(code) });
process.on('message', (message: ParentMessage, handle: unknown) => {
  if (message.type === 'connection') program.take(message, handle instanceof Socket ? handle : null);
  else if (message.type === 'socket') program.inherit(message, (handle as SocketHandle | undefined) ?? null);
  else program.receive(message).catch((error: unknown) => program.fail(error));
});
process.on('disconnect', () => void program.orphaned());
process.on('uncaughtException', (error) => void program.fail(error));
process.on('unhandledRejection', (error) => void program.fail(error));
// The service decides when an edge ends; a Ctrl-C reaches the whole process group.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
