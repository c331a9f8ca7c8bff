import type { VisitorVerifier } from '../access/visitor-verifier.js';
import type { TunnelServerEnvironment } from '../server-environment.js';
import { PolicyVerifier } from './policy-verifier.js';
import { EMPTY_CONFIG } from '../config.js';
import type { TunnelServerConfig } from '../config.js';
import type { ResourceRef } from '../resource.js';
import { PolicyTable } from './policy-table.js';

/** Used when nothing can verify visitors: refuses those that must be verified. */
class ClosedVerifier implements VisitorVerifier {
  private table = new PolicyTable(EMPTY_CONFIG);

  apply(config: TunnelServerConfig): ReadonlySet<string> {
    const before = this.table;
    this.table = new PolicyTable(config);
    return this.table.changedSince(before);
  }

  guards(resource: ResourceRef, clientId: number): boolean {
    return this.table.of(resource, clientId).length > 0;
  }

  allows(resource: ResourceRef, clientId: number): boolean {
    return !this.guards(resource, clientId);
  }

  checkPassword(resource: ResourceRef, clientId: number): boolean {
    return !this.guards(resource, clientId);
  }

  verify({ resource, clientId }: { resource: ResourceRef; clientId: number }): ReturnType<VisitorVerifier['verify']> {
    return this.guards(resource, clientId)
      ? { allowed: false, answer: { status: 403, headers: [], body: '' } }
      : { allowed: true, dropHeaders: [], requestHeaders: [], responseHeaders: [] };
  }
}

/** Chooses the verifier by the server's environment. */
export function createVerifier({ now, logger, events, verification }: TunnelServerEnvironment): VisitorVerifier {
  if (!verification) return new ClosedVerifier();
  return new PolicyVerifier(verification, {
    now,
    logger,
    failed: (visitors) => {
      logger.debug('visitors did not prove who they are', { ...visitors });
      events?.visitorFailed?.(visitors);
    },
  });
}
