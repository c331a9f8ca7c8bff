import type { VisitorVerifier } from '../access/visitor-verifier.js';
import type { TunnelServerEnvironment } from '../server-environment.js';
import { ClosedVerifier } from './closed-verifier.js';
import { PolicyVerifier } from './policy-verifier.js';

/** By what a server's environment has for it. */
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
