import type { ClientKeyView } from '@gatehouse/contracts';
import { agentKeyHash, createAgentSecret, formatAgentKey } from '@gatehouse/tunnel-kernel';
import { Injectable } from '@nestjs/common';
import { Edges } from '../edge-host/edges.service.js';
import { PublicAddresses } from '../gateway/public-addresses.js';

export interface NewAgentKey extends ClientKeyView {
  /** The part that is stored. */
  hash: string;
}

/** Keys for agents: shown once, stored as hashes. */
@Injectable()
export class AgentKeys {
  constructor(
    private readonly edges: Edges,
    private readonly addresses: PublicAddresses,
  ) {}

  create(): NewAgentKey {
    const secret = createAgentSecret();
    const key = formatAgentKey({ secret, ...this.edges.pins });
    return {
      key,
      command: `node gatehouse-agent.mjs --server ${this.addresses.agents} --key ${key}`,
      hash: agentKeyHash(secret),
    };
  }
}
