import { isIP, type Socket } from 'node:net';
import {
  reuseMemory,
  setFlowTimeout,
  sniffHttpHost,
  sniffTlsServerName,
  type ByteReader,
  type SniffResult,
} from '@gatehouse/net';
import {
  RejectedError,
  type ConnectionMetadata,
  type Flow,
  type InboundContext,
  type Login,
} from '../interfaces/index.js';
import { normalHost } from '../transport/normal-host.js';
import { endGently, leaveUnanswered, plainAddress } from './client-socket.js';

/** A client that asked for a byte stream (CONNECT, SOCKS), with its protocol's answers. */
export interface StreamRequest {
  socket: Socket;
  reader: ByteReader;
  type: ConnectionMetadata['type'];
  login: Login;
  host: string;
  port: number;
  /** See `ConnectionMetadata`. */
  publicOnly?: boolean;
  accepted: Uint8Array;
  refused(error: unknown): Uint8Array;
  /** For HTTP only: the status of the answer. */
  statusOf?(error: unknown): number;
}

/** Dials for the client, answers it and starts the relay. Never throws: the flow's record has every outcome. */
export async function serveStream(context: InboundContext, request: StreamRequest): Promise<void> {
  const { socket, reader } = request;
  const flow = context.dispatcher.begin(streamMetadata(context, request), () => socket.destroy());
  const onClientClose = (): void => flow.finish({ closeReason: 'client_closed' });
  socket.once('close', onClientClose);
  const early = await sniffIfWanted(context, flow, request);
  try {
    const remote = await flow.connect();
    if (socket.destroyed) {
      remote.destroy();
      return;
    }
    socket.off('close', onClientClose);
    if (!early) socket.write(request.accepted);
    if (request.statusOf) flow.setHttpStatus(200);
    const head = reader.detach();
    if (remote.copiesWrites) reuseMemory(socket);
    flow.relay(socket, remote, head);
  } catch (error) {
    socket.off('close', onClientClose);
    if (request.statusOf) flow.setHttpStatus(early ? 200 : request.statusOf(error));
    refuse(context, request, error, early);
    flow.finish({ closeReason: 'error', error });
  }
}

/** The client's host and address in the form of rules and records. */
export function targetFields(
  host: string,
  destinationIp: string | null = null,
): Pick<ConnectionMetadata, 'host' | 'destinationIp'> {
  const normal = normalHost(host) ?? host;
  return isIP(normal) ? { host: null, destinationIp: normal } : { host: normal, destinationIp };
}

export function loginFields({ user, wishes }: Login): Pick<ConnectionMetadata, 'inboundUser' | 'wishes'> {
  return { inboundUser: user, ...(wishes && { wishes }) };
}

function streamMetadata(context: InboundContext, request: StreamRequest): ConnectionMetadata {
  const { socket, type, login, host, port, publicOnly = false } = request;
  return {
    network: 'tcp',
    type,
    sourceIp: plainAddress(socket.remoteAddress),
    sourcePort: socket.remotePort ?? 0,
    inboundName: context.config.name,
    inboundPort: context.port,
    ...loginFields(login),
    ...targetFields(host),
    destinationPort: port,
    ...(publicOnly && { publicOnly }),
  };
}

function refuse(context: InboundContext, request: StreamRequest, error: unknown, early: boolean): void {
  const { socket, reader } = request;
  reader.detach();
  if (error instanceof RejectedError && error.drop) leaveUnanswered(socket, context.timeouts.drop);
  else if (early) socket.destroy();
  else endGently(socket, request.refused(error));
}

/** Returns whether the client has already been answered, as is necessary to see its first bytes. */
async function sniffIfWanted(context: InboundContext, flow: Flow, request: StreamRequest): Promise<boolean> {
  const { sniffing } = context;
  const { metadata } = flow;
  if (sniffing === false || metadata.host !== null || !sniffing.ports.includes(metadata.destinationPort)) return false;
  request.socket.write(request.accepted);
  const host = normalHost((await sniffHost(request.reader, sniffing.timeoutMs)) ?? '');
  if (host !== null) metadata.sniffHost = host;
  return true;
}

async function sniffHost(reader: ByteReader, timeoutMs: number): Promise<string | null> {
  const expired = new AbortController();
  const timer = setFlowTimeout(null, () => expired.abort(), timeoutMs);
  try {
    for (let wanted = 1; ;) {
      const bytes = await reader.peek(wanted, expired.signal);
      const result = sniff(bytes);
      if (result.state !== 'incomplete') return result.state === 'found' ? result.host : null;
      wanted = bytes.length + 1;
    }
  } catch {
    // Too late, too long, or the client left: the flow continues by its address, and the socket notices a missing client.
    return null;
  } finally {
    clearTimeout(timer);
  }
}

function sniff(bytes: Buffer): SniffResult {
  return bytes[0] === 22 ? sniffTlsServerName(bytes) : sniffHttpHost(bytes);
}
