import type { ConnectionMetadata } from '../../interfaces/connection.js';

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
  flow: ConnectionMetadata,
  options: AddressOptions,
  test: (address: string) => boolean,
): boolean | 'needs-ip' {
  const address = options.src ? flow.sourceIp : flow.destinationIp;
  if (address !== null) return address !== UNRESOLVED && test(address);
  return flow.host === null || options.noResolve ? false : 'needs-ip';
}

export function describeOptions(options: AddressOptions): string {
  return `${options.noResolve ? ',no-resolve' : ''}${options.src ? ',src' : ''}`;
}
