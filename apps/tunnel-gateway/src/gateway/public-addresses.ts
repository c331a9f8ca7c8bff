import type { TunnelGatewayView } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import { Edges } from '../edge-host/edges.service.js';
import { SERVICE_VERSION } from '../service-version.js';
import { TunnelGatewaySettings } from '../settings.js';

/** Public addresses of the gateway for agents and visitors: configured ones, or the bound ports. */
@Injectable()
export class PublicAddresses {
  constructor(
    private readonly edges: Edges,
    private readonly settings: TunnelGatewaySettings,
  ) {}

  /** `host:port` for `--server`. */
  get agents(): string {
    const { publicAddress, publicUrl, agentPort } = this.settings;
    if (publicAddress !== undefined) return publicAddress;
    return `${new URL(publicUrl).hostname}:${agentPort === 0 ? this.edges.ports.agents : agentPort}`;
  }

  view(): TunnelGatewayView {
    const { http, https } = this.edges.ports;
    return {
      agent_address: this.agents,
      http_port: known(http),
      https_port: this.settings.publicHttpsPort ?? known(https),
      automatic_https: this.settings.acmeAgreeTerms,
      publish_domain: this.settings.publishDomain ?? null,
      version: SERVICE_VERSION,
    };
  }
}

/** 0: not bound yet. */
function known(port: number): number | null {
  return port === 0 ? null : port;
}
