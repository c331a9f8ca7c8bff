import type { Endpoint } from '../base/endpoint.js';

/** Where a connection of an agent came from. */
export interface Arrival {
  /**
   * The peer, or the machine that a trusted proxy speaks for. Null: the connection closed before its address was read.
   */
  from: Endpoint | null;
  /** The address that it connected to. */
  entrance: Endpoint;
  via: 'tcp' | 'websocket';
}
