import { deriveControlKey, type ControlKey } from '@gatehouse/net';
import type { AcceptedConnection } from './proxy-clients.js';

/** The key of the channel between proxy-gateway and the other services: all have GATEHOUSE_SECRET_KEY. */
export function proxyClientsKey(secretKey: Buffer): ControlKey {
  return deriveControlKey(secretKey, 'proxy-clients');
}

export const CLIENTS_LINK_LIMITS = { maxMessageBytes: 16 * 1_024 };
/** Maximum number of pending questions of one service. */
export const MAX_QUESTIONS = 256;
/** Maximum number of addresses of the kernel's machine that are sent. */
export const MAX_KERNEL_ADDRESSES = 128;

export interface ClientQuestion {
  type: 'clientOf';
  id: number;
  connection: AcceptedConnection;
}

export type ClientAnswer =
  | { type: 'client'; id: number; client: string | null }
  | { type: 'unavailable'; id: number; reason: string }
  /** Sent first, and whenever it changes. */
  | { type: 'kernel'; addresses: readonly string[] | null };
