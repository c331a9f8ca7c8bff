import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { TunnelLogger } from '../environment.js';
import type { RequestDispatcher } from './request-dispatcher.js';
import type { TrustedProxies } from '../access/trusted-proxies.js';

/** Longest head of a request. */
export const MAX_HEAD_BYTES = 64 * 1024;
/** More than the 60 s of what may stand in front of this: the one in front is to let go first. */
export const KEEP_ALIVE_MS = 65_000;

/** What listeners of all versions of HTTP share. */
export interface ListenerContext {
  dispatcher: RequestDispatcher;
  proxies: TrustedProxies;
  logger: TunnelLogger;
  /** From the first byte of a head to its last, milliseconds. */
  headMs: number;
  draining(): boolean;
  /** Other processes serve other names. */
  shared: boolean;
  /** A WebSocket of an agent (`AGENT_PATH`): paused, with what came after the request put back. */
  agentUpgrade(request: IncomingMessage, socket: Socket): void;
}
