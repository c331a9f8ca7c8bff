import type { GroupState, KernelConfig } from '@gatehouse/proxy-kernel';
import type { MihomoGroup } from './mihomo-api.js';
import { DNS_LISTENER } from './mihomo-config.js';

/** The state of a group as mihomo reports it. */
export function toState(
  { name, type, members }: KernelConfig['groups'][number],
  group: MihomoGroup | undefined,
): GroupState {
  const now = type === 'load-balance' || members.length === 0 ? null : (group?.now ?? null);
  const fixed = type === 'select' || (group?.fixed !== undefined && group.fixed !== '');
  return { name, type, members, now, fixed };
}

/** All listeners, including the one for DNS. */
export function listenersOf(
  config: KernelConfig | null,
): { name: string; type: string; address: string; port: number }[] {
  const dns = config?.dns?.listen;
  return [...(config?.listeners ?? []), ...(dns ? [{ name: DNS_LISTENER, type: DNS_LISTENER, ...dns }] : [])];
}
