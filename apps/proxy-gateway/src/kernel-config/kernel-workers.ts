import type { PreferenceSnapshot } from '../preferences/preference-snapshot.js';

export const MAX_KERNEL_WORKERS = 64;

/** How many kernels a service starts. */
export interface KernelWorkers {
  wanted: number;
  /** The most that may run, if some left records that are not stored yet. */
  most: number;
}

/** The kernels that these settings start. */
export function kernelWorkers(settings: Pick<PreferenceSnapshot, 'get'>): KernelWorkers {
  if (obstacleOf(settings) !== null) return { wanted: 1, most: 1 };
  return { wanted: settings.get('kernel.workers'), most: MAX_KERNEL_WORKERS };
}

/** Why no more than one kernel can run; null: nothing. */
export function obstacleOf(settings: Pick<PreferenceSnapshot, 'get'>): string | null {
  if (process.platform !== 'linux') return 'needs Linux to be more than 1: other systems do not divide connections';
  if (settings.get('kernel.mode') === 'mihomo') return 'cannot be more than 1 with mihomo, which uses all cores itself';
  if (settings.get('dns.fake_ip')) {
    return 'cannot be more than 1 with dns.fake_ip: only the kernel that answered knows the name behind an address';
  }
  return null;
}
