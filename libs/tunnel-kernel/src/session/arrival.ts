import type { Endpoint } from '../base/endpoint.js';

/** Where a connection to the door came from. */
export interface Arrival {
  /** The machine at the other end, or the one that a trusted proxy speaks for. Null: it was gone before it was looked at. */
  from: Endpoint | null;
  /** Where it came in. */
  entrance: Endpoint;
  via: 'tcp' | 'websocket';
}
