import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { TunnelLogger } from '../environment.js';
import type { RequestDispatcher } from './request-dispatcher.js';
import type { TrustedProxies } from '../access/trusted-proxies.js';

/** Upper bound for the head of a request. */
export const MAX_HEAD_BYTES = 64 * 1024;
/** More than the 60 s of common proxies in front, so that the proxy closes first. */
export const KEEP_ALIVE_MS = 65_000;

/** Shared by the listeners of all versions of HTTP. */
export interface ListenerContext {
  dispatcher: RequestDispatcher;
  proxies: TrustedProxies;
  logger: TunnelLogger;
  /** From the first to the last byte of a head, in milliseconds. */
  headMs: number;
  draining(): boolean;
  /** Whether other processes serve other names. */
  shared: boolean;
  /**
   * Called with an agent's WebSocket request (`AGENT_PATH`): the socket is paused, with the bytes after the request put
   * back.
   */
  agentUpgrade(request: IncomingMessage, socket: Socket): void;
}
