import type { Socket } from 'node:net';

/**
 * Removes all listeners of a socket once it has closed. Node's handle keeps a closed socket until the next full collection
 * of the heap, since collections of young objects do not clear handles. Whatever hangs on its listeners would be kept as
 * well: all objects of a flow, 5 KiB for each new connection, which grow old and then cost a full collection.
 */
export function releaseListenersOnClose(socket: Socket): void {
  // Listeners that come after this one are still called: they are removed for later events only, and `close` is the last.
  socket.on('close', () => socket.removeAllListeners());
}
