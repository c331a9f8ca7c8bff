import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import type { ConnectionRecord, ConnectionSnapshot, InboundType, MatchedRule } from '@gatehouse/proxy-kernel';
import type { MihomoConnection } from './mihomo-api.js';
import { errorKindOf } from './mihomo-flow-log.js';
import { isRejected, type NotedFlow } from './mihomo-flow-notes.js';

const BUILT_IN = new Set(['DIRECT', 'REJECT', 'REJECT-DROP', 'PASS', 'COMPATIBLE']);
const INBOUND_TYPES: readonly InboundType[] = ['HTTP', 'HTTPS', 'Socks4', 'Socks5', 'Inner'];

/** An open connection in our form. */
export function toSnapshot(connection: MihomoConnection, rule: MatchedRule | null): ConnectionSnapshot {
  const { metadata, chains } = connection;
  return {
    id: connection.id,
    network: metadata.network === 'udp' ? 'udp' : 'tcp',
    type: INBOUND_TYPES.find((type) => type === metadata.type) ?? 'Inner',
    sourceIp: metadata.sourceIP,
    sourcePort: Number(metadata.sourcePort),
    inboundName: metadata.inboundName ?? '',
    inboundUser: metadata.inboundUser ? metadata.inboundUser : null,
    host: metadata.host === '' ? null : metadata.host,
    destinationIp: metadata.destinationIP === '' ? null : metadata.destinationIP,
    destinationPort: Number(metadata.destinationPort),
    ...(metadata.sniffHost ? { sniffHost: metadata.sniffHost } : {}),
    rule,
    chain: chains.toReversed(),
    nodeTag: nodeOf(chains[0]),
    ...(metadata.dnsMode === 'fake-ip' && { fakeIp: true }),
    remoteDestination: metadata.remoteDestination ? metadata.remoteDestination : null,
    upload: connection.upload,
    download: connection.download,
    uploadSpeed: 0,
    downloadSpeed: 0,
    startedAt: Date.parse(connection.start),
    state: 'open',
  };
}

/** The record of a flow that was in the list. Who closed it is a guess, since mihomo does not say. */
export function recordOfListed(snapshot: ConnectionSnapshot, closedByUs: boolean, now: number): ConnectionRecord {
  return { ...snapshot, ...NO_ERROR, endedAt: now, status: 'ok', closeReason: closedByUs ? 'user' : 'remote_closed' };
}

/** The record of a flow that only the log has: how many bytes it carried is not known. */
export function recordOfNoted({ flow, at }: NotedFlow, rule: MatchedRule | null, now: number): ConnectionRecord {
  const source = splitAddress(flow.source);
  const destination = splitAddress(flow.destination);
  const named = isIP(destination.host) === 0;
  return {
    id: randomUUID(),
    network: flow.network,
    type: 'Inner',
    sourceIp: source.host,
    sourcePort: source.port,
    inboundName: '',
    inboundUser: null,
    host: named ? destination.host : null,
    destinationIp: named ? null : destination.host,
    destinationPort: destination.port,
    rule,
    chain: flow.target === flow.outbound ? [flow.target] : [flow.target, flow.outbound],
    nodeTag: nodeOf(flow.outbound),
    remoteDestination: null,
    upload: 0,
    download: 0,
    uploadSpeed: 0,
    downloadSpeed: 0,
    startedAt: at,
    endedAt: now,
    ...outcomeOf(flow),
  };
}

const NO_ERROR = {
  state: 'closing',
  httpStatus: null,
  errorStage: null,
  errorKind: null,
  errorErrno: null,
  errorMessage: null,
} as const;

function outcomeOf(flow: NotedFlow['flow']) {
  if (isRejected(flow)) return { ...NO_ERROR, status: 'rejected', closeReason: 'rejected' } as const;
  if (flow.error === null) return { ...NO_ERROR, status: 'ok', closeReason: 'remote_closed' } as const;
  const errorKind = errorKindOf(flow.error);
  return {
    ...NO_ERROR,
    status: 'failed',
    closeReason: 'error',
    errorStage: errorKind === 'dns_error' ? 'dns' : 'dial',
    errorKind,
    errorMessage: flow.error,
  } as const;
}

function nodeOf(tag: string | undefined): string | null {
  return tag === undefined || BUILT_IN.has(tag) ? null : tag;
}

/** `[::1]:80` and `name:80`. */
function splitAddress(text: string): { host: string; port: number } {
  const at = text.lastIndexOf(':');
  return { host: text.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(text.slice(at + 1)) };
}
