import { relay, type ByteStream, type RelayOptions } from '@gatehouse/net';
import type { FlowLedger } from './flow-ledger.js';
import type { Asked } from './access/request-condition.js';
import type { ResourceRef } from './resource.js';
import type { Endpoint } from './base/endpoint.js';

/** The resource and the client that a flow is counted for. */
export interface FlowOwner {
  resource: ResourceRef;
  clientId: number;
  visitor: Endpoint;
  /** Absent: connections without requests. */
  asked?: Asked;
}

/** Relays bytes between a visitor and a target, as one flow of the ledger from start to end. */
export function relayFlow(
  ledger: Pick<FlowLedger, 'open' | 'close'>,
  { resource, clientId, visitor, asked }: FlowOwner,
  [near, far]: readonly [visitor: ByteStream, target: ByteStream],
  options: Pick<RelayOptions, 'head' | 'throttle'>,
): void {
  const flow = ledger.open(resource, clientId, visitor, 1, asked);
  const { head, throttle } = options;
  flow.handle = relay(near, far, flow.counter, { head, throttle, onClose: (end) => ledger.close(flow, end) });
}
