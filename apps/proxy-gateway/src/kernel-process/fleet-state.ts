import type { KernelState } from '@gatehouse/contracts';

/** The state of all kernels together: `degraded` means that some, but not all, are as they should be. */
export function stateOf(states: readonly KernelState[]): KernelState {
  const [first = 'starting', ...others] = states;
  if (others.every((state) => state === first)) return first;
  if (states.includes('degraded') || states.includes('starting')) return 'degraded';
  return states.includes('reloading') ? 'reloading' : 'degraded';
}
