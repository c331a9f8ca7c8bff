import { formatHostPort } from '@gatehouse/net';
import {
  formatWebSocketAddress,
  parseWebSocketAddress,
  type AgentTransport,
  type HostAndPort,
  type WebSocketAddress,
} from '@gatehouse/tunnel-kernel';
import { Complaint, type Problems } from './command-line.js';
import type { ProxyChoice } from '../proxy/proxy-address.js';
import { readProxy, type ProxyPlaces } from './proxy-settings.js';

const DEFAULT_PORT = 8024;
const TRANSPORTS: readonly AgentTransport[] = ['auto', 'raw', 'websocket'];

/** How the gateway is reached. */
export interface WaySettings {
  server: HostAndPort;
  transport: AgentTransport;
  /** Undefined: the default address. */
  websocket: WebSocketAddress | undefined;
  proxyFor: ProxyChoice;
}

export interface WayTexts {
  /** `HOST:PORT` of the port for agents, or the address of a WebSocket. */
  server: string | undefined;
  transport: string | undefined;
  proxy: ProxyPlaces;
}

export function readWay({ server, transport, proxy }: WayTexts, problems: Problems): WaySettings {
  const { note } = problems;
  const websocket = parseWebSocketAddress(server ?? '') ?? undefined;
  return {
    server: note<HostAndPort>(() => websocket ?? parseServer(server), { host: '', port: 0 }),
    transport: note(() => parseTransport(transport, websocket !== undefined), 'auto'),
    websocket,
    proxyFor: readProxy(proxy, websocket?.secure === false ? 'http' : 'https', problems),
  };
}

/** The gateway's name for people. */
export function nameOf({ server: { host, port }, websocket }: WaySettings): string {
  return websocket ? formatWebSocketAddress(websocket) : formatHostPort(host, port);
}

/** @throws Complaint that shows the right form. */
function parseServer(text: string | undefined): HostAndPort {
  if (!text) throw new Complaint((words) => words.text('usage.noServer'));
  const [, bracketed, plain, port = DEFAULT_PORT] = /^(?:\[([^\]]+)\]|([^:\s]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const server = { host: bracketed ?? plain ?? '', port: Number(port) };
  if (server.host === '' || server.port < 1 || server.port > 65_535) {
    throw new Complaint((words) => words.text('usage.server', { text }));
  }
  return server;
}

/** With a WebSocket address no other transport is possible. */
function parseTransport(text: string | undefined, isWebSocket: boolean): AgentTransport {
  const found = TRANSPORTS.find((known) => known === (text ?? (isWebSocket ? 'websocket' : 'auto')));
  if (!found)
    throw new Complaint((words) => words.text('usage.transport', { text: text ?? '', known: TRANSPORTS.join(', ') }));
  if (isWebSocket && found !== 'websocket')
    throw new Complaint((words) => words.text('usage.transportNeedsPort', { transport: found }));
  return found;
}
