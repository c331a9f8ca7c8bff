import type { ConnectionMetadata, Network } from '../../interfaces/connection.js';
import type { Matcher } from '../../interfaces/route.js';
import { RuleError } from './rule-error.js';

/** `NETWORK,udp`. */
export class NetworkMatcher implements Matcher {
  readonly type = 'NETWORK';
  readonly #network: Network;

  constructor(payload: string) {
    const network = payload.toLowerCase();
    if (network !== 'tcp' && network !== 'udp') {
      throw new RuleError('payload', `${JSON.stringify(payload.slice(0, 80))} is neither tcp nor udp`);
    }
    this.#network = network;
  }

  matches(flow: ConnectionMetadata): boolean {
    return flow.network === this.#network;
  }

  describe(): string {
    return `NETWORK,${this.#network}`;
  }
}
