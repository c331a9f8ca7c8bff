import type { RouteDecision } from './interfaces/index.js';

/** Completes a routing decision with the members that its groups choose for it. */
export function withChain<D extends RouteDecision>(decision: D, chain: string[]): D {
  // Behind the last rule there is nothing to pass to, and mihomo's PASS carries no traffic either.
  if (chain.at(-1) === 'PASS') chain.push('REJECT');
  return { ...decision, chain, outbound: chain.at(-1) ?? 'REJECT' };
}
