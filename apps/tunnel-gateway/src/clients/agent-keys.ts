import type { ClientKeyView } from '@gatehouse/contracts';
import { agentKeyHash, createAgentSecret, formatAgentKey } from '@gatehouse/tunnel-kernel';
import { Injectable } from '@nestjs/common';
import { Edges } from '../gateway-host/edges.service.js';
import { TunnelGatewaySettings } from '../settings.js';

export interface NewAgentKey extends ClientKeyView {
  /** What is kept of it. */
  hash: string;
}

/** Keys that agents come in with: shown once, kept as hashes. */
@Injectable()
export class AgentKeys {
  constructor(
    private readonly edges: Edges,
    private readonly settings: TunnelGatewaySettings,
  ) {}

  create(): NewAgentKey {
    const secret = createAgentSecret();
    const key = formatAgentKey({ secret, fingerprint: this.edges.fingerprint });
    return {
      key,
      command: `node gatehouse-agent.mjs --server ${this.address} --key ${key}`,
      hash: agentKeyHash(secret),
    };
  }

  private get address(): string {
    const { publicAddress, publicUrl, agentPort } = this.settings;
    if (publicAddress !== undefined) return publicAddress;
    return `${new URL(publicUrl).hostname}:${agentPort === 0 ? this.edges.ports.agents : agentPort}`;
  }
}
