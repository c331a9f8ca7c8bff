import type { RevisedConfig } from '../../common/kernel-ipc.js';

/** The configuration with every listener on one address. */
export function onAddress(config: RevisedConfig, address: string): RevisedConfig {
  const { dns } = config;
  return {
    ...config,
    listeners: config.listeners.map((listener) => ({ ...listener, address })),
    ...(dns?.listen && { dns: { ...dns, listen: { ...dns.listen, address } } }),
  };
}

/** The configuration of a kernel that accepts no connections. */
export function withoutListeners(config: RevisedConfig): RevisedConfig {
  if (!config.dns?.listen) return { ...config, listeners: [] };
  const { listen: _listen, ...dns } = config.dns;
  return { ...config, listeners: [], dns };
}
