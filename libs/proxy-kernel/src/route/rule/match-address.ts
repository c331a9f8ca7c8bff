import type { RoutedFlow } from '../../interfaces/route.js';

export interface AddressOptions {
  noResolve: boolean;
  src: boolean;
}

/** Stands for the address of a name that did not resolve; every address rule misses it. */
export const UNRESOLVED = '';

/**
 * Calls `test` with the address that an IP rule looks at: the client's with `src`, otherwise the target's once it is
 * known.
 */
export function matchAddress(
  flow: RoutedFlow,
  options: AddressOptions,
  test: (address: string) => boolean,
): boolean | 'needs-ip' {
  const address = options.src ? flow.sourceIp : flow.destinationIp;
  if (address !== null) return address !== UNRESOLVED && test(address);
  if (flow.host === null || options.noResolve) return false;
  const resolved = resolve(flow);
  return resolved === null ? 'needs-ip' : resolved !== UNRESOLVED && test(resolved);
}

/** The address of the flow's name, which all conditions behind see as well; null if it has to be asked for first. */
export function resolve(flow: RoutedFlow): string | null {
  flow.destinationIp ??= flow.resolvable ?? null;
  return flow.destinationIp;
}

export function describeOptions(options: AddressOptions): string {
  return `${options.noResolve ? ',no-resolve' : ''}${options.src ? ',src' : ''}`;
}
