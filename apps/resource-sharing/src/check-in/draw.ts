import { randomInt } from 'node:crypto';

export type CheckInMode = 'normal' | 'gambler';

/** The range of each mode; every whole number in it is equally likely. */
export const DRAWS: Readonly<Record<CheckInMode, { readonly from: number; readonly to: number }>> = {
  normal: { from: 4, to: 10 },
  gambler: { from: -3, to: 30 },
};

/** From the operating system's random source: nobody can predict the next number. */
export function draw(mode: CheckInMode): number {
  const { from, to } = DRAWS[mode];
  return randomInt(from, to + 1);
}
