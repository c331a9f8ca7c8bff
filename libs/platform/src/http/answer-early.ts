import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** As long as other servers wait, such as nginx (lingering_time, lingering_timeout). */
const MAX_DRAIN_MS = 30_000;
const MAX_SILENCE_MS = 5_000;

/**
 * Prepares an answer that is sent while the client may still be sending its body, which nobody reads. Closing the
 * connection at once would reset it, and the client would lose the answer. So after the answer the rest is read and
 * thrown away, for a limited time.
 */
export function answerEarly(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('Connection', 'close');
  const { socket } = request;
  // Node calls this after an answer with `Connection: close`.
  socket.destroySoon = () => drain(socket);
}

function drain(socket: Socket): void {
  const end = (): void => void socket.destroy();
  // A listener of data takes the connection away from the HTTP parser: what follows is not another request.
  socket.on('data', ignore);
  for (const listener of socket.listeners('data')) {
    if (listener !== ignore) socket.off('data', listener as () => void);
  }
  socket.removeAllListeners('end');
  socket.on('end', end);
  socket.on('error', end);
  socket.setTimeout(MAX_SILENCE_MS, end);
  const deadline = setTimeout(end, MAX_DRAIN_MS);
  socket.once('close', () => clearTimeout(deadline));
  socket.end();
  socket.resume();
}

function ignore(): void {
  // The body of a request that has been refused.
}
