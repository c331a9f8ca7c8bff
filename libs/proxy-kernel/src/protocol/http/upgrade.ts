import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { RejectedError, type ConnectionMetadata, type InboundContext } from '../../interfaces/index.js';
import { endGently, leaveUnanswered } from '../client-socket.js';
import { endToEndHeaders, formatAnswer, publicReason, statusOf } from './codec.js';
import type { ForwardTarget } from './target.js';

export interface UpgradeRequest {
  request: IncomingMessage;
  socket: Socket;
  /** Bytes after the request's head. */
  head: Buffer;
  target: ForwardTarget;
  metadata: ConnectionMetadata;
}

/** Serves a plain request for another protocol (`ws://` through the proxy) with a raw relay to its origin. */
export async function serveUpgrade(context: InboundContext, upgrade: UpgradeRequest): Promise<void> {
  const { socket, head } = upgrade;
  socket.pause();
  const flow = context.dispatcher.begin(upgrade.metadata, () => socket.destroy());
  const onClientClose = (): void => flow.finish({ closeReason: 'client_closed' });
  socket.once('close', onClientClose);
  try {
    const remote = await flow.connect();
    if (socket.destroyed) return void remote.destroy();
    socket.off('close', onClientClose);
    flow.relay(socket, remote, Buffer.concat([requestHead(upgrade), head]));
  } catch (error) {
    socket.off('close', onClientClose);
    flow.setHttpStatus(statusOf(error));
    if (error instanceof RejectedError && error.drop) leaveUnanswered(socket, context.timeouts.drop);
    else endGently(socket, formatAnswer(statusOf(error), publicReason(error)));
    flow.finish({ closeReason: 'error', error });
  }
}

function requestHead({ request, target }: UpgradeRequest): Buffer {
  const headers = endToEndHeaders(request.rawHeaders, ['host']);
  const lines = [`${request.method ?? 'GET'} ${target.path} HTTP/1.1`, `Host: ${target.authority}`];
  for (let index = 0; index < headers.length; index += 2)
    lines.push(`${headers[index] ?? ''}: ${headers[index + 1] ?? ''}`);
  // `close`: an origin that does not upgrade must not get the client's next request, which may be for another origin.
  lines.push(`Upgrade: ${request.headers.upgrade ?? ''}`, 'Connection: Upgrade, close', '', '');
  return Buffer.from(lines.join('\r\n'), 'latin1');
}
