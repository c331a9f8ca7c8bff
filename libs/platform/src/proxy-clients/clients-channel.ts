import { deriveControlKey, type ControlKey } from '@gatehouse/net';
import type { AcceptedConnection } from './proxy-clients.js';

/** The key of the channel between proxy-gateway and the other services: all have GATEHOUSE_SECRET_KEY. */
export function proxyClientsKey(secretKey: Buffer): ControlKey {
  return deriveControlKey(secretKey, 'proxy-clients');
}

export const CLIENTS_LINK_LIMITS = { maxMessageBytes: 16 * 1_024 };
/** Questions of one service that wait for an answer at a time. */
export const MAX_QUESTIONS = 256;
/** Addresses of the kernel's machine that are passed on. */
export const MAX_KERNEL_ADDRESSES = 128;

export interface ClientQuestion {
  type: 'clientOf';
  id: number;
  connection: AcceptedConnection;
}

export type ClientAnswer =
  | { type: 'client'; id: number; client: string | null }
  | { type: 'unavailable'; id: number; reason: string }
  /** First of all, and whenever it changes. */
  | { type: 'kernel'; addresses: readonly string[] | null };
