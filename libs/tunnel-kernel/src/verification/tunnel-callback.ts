import type { VisitorPolicyConfig } from '../config.js';
import type { TunnelLogger } from '../environment.js';
import { TunnelError } from '../errors.js';
import type { ResourceRef } from '../resource.js';
import type { OutboundCalls } from './outbound-call.js';
import type { Endpoint } from '../base/endpoint.js';

export interface RawVisitor {
  resource: ResourceRef;
  clientId: number;
  visitor: Endpoint;
}

const MAX_TTL = 2_592_000;

/** Asks a service of the owner about visitors of raw tunnels, for which only an address is known. */
export class TunnelCallback {
  private readonly calls: OutboundCalls;
  private readonly logger: TunnelLogger;

  constructor(calls: OutboundCalls, logger: TunnelLogger) {
    this.calls = calls;
    this.logger = logger;
  }

  /** For how many seconds the address is admitted, 0: for this connection; null: not at all. */
  async ask({ resource, clientId, visitor }: RawVisitor, policy: VisitorPolicyConfig): Promise<number | null> {
    try {
      const { status, body } = await this.calls.send({
        url: policy.callbackUrl ?? '',
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
        body: JSON.stringify({
          ip: visitor.address,
          port: visitor.port,
          resource_type: resource.kind,
          resource_id: resource.id,
          client_id: clientId,
        }),
        allowPrivate: policy.allowPrivate ?? false,
        forClient: clientId,
      });
      if (status < 200 || status > 299 || body === null) return null;
      return readTtl(body, policy.ttlSeconds);
    } catch (error) {
      if (!(error instanceof TunnelError)) throw error;
      this.logger.warn('a callback about visitors failed', { policy: policy.id, reason: error.message });
      return null;
    }
  }
}

/** `{"allow": true, "ttl": seconds}`; without `ttl` the policy's. Anything else means no. */
function readTtl(body: Buffer, ttlSeconds: number): number | null {
  const answer = parse(body.toString('utf8'));
  if (typeof answer !== 'object' || answer === null || !('allow' in answer) || answer.allow !== true) return null;
  const ttl = 'ttl' in answer ? answer.ttl : ttlSeconds;
  return typeof ttl === 'number' && Number.isInteger(ttl) && ttl >= 0 ? Math.min(ttl, MAX_TTL) : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
