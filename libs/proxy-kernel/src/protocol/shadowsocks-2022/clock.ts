import { ShadowsocksError } from '../shadowsocks/chunk-key.js';

/** The largest difference between the two clocks (SIP022 3.1.2). */
const MAX_SKEW_SECONDS = 30;

/** Seconds since the epoch, 8 bytes. */
export function timestamp(nowMs = Date.now()): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigUInt64BE(BigInt(Math.floor(nowMs / 1000)));
  return bytes;
}

/** @throws ShadowsocksError if the difference is too large. */
export function checkTimestamp(bytes: Buffer, at: number, nowMs = Date.now()): void {
  const skew = Math.round(Number(bytes.readBigUInt64BE(at)) - nowMs / 1000);
  if (Math.abs(skew) > MAX_SKEW_SECONDS) {
    throw new ShadowsocksError(`the server's clock and ours are ${Math.abs(skew)} seconds apart, or this is a replay`);
  }
}
