/** How long a user has to enter the code that a device shows (RFC 8628 section 6.1). */
export const DEVICE_CODE_SECONDS = 600;
/** RFC 8628 section 3.5: `slow_down` lengthens the interval by this for all further requests. */
export const SLOWER_SECONDS = 5;

/** How far the authorization of a device has come. */
export interface DeviceProgress {
  readonly consumed: boolean;
  readonly denied: boolean;
  readonly expired: boolean;
  readonly approved: boolean;
  /** The device asked again before its interval was over. */
  readonly hasty: boolean;
}

export type DeviceRefusal = 'used' | 'denied' | 'expired' | 'hasty' | 'pending';

/** Why a device that asks gets nothing; null: it gets what its user approved (RFC 8628 section 3.5). */
export function deviceRefusal({ consumed, denied, expired, approved, hasty }: DeviceProgress): DeviceRefusal | null {
  if (consumed) return 'used';
  if (denied) return 'denied';
  if (expired) return 'expired';
  if (approved) return null;
  return hasty ? 'hasty' : 'pending';
}
