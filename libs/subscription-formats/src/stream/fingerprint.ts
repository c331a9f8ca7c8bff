import { decodeBase64 } from '../text/base64.js';

const HEX = /^[0-9a-f]{64}$/;
const MAX_PINS = 16;

/**
 * The SHA-256 of pinned certificates, in hex without colons, joined by commas: any of them is accepted. Xray links write
 * them in base64, too, and separate them by `,` or `~`. Undefined: it is no list of them.
 */
export function readPins(raw: string): string | undefined {
  const pins = raw.split(/[,~]/).map((item) => readPin(item.trim()));
  return pins.length > MAX_PINS || pins.includes(undefined) ? undefined : pins.join(',');
}

function readPin(text: string): string | undefined {
  const hex = text.replaceAll(':', '').toLowerCase();
  if (HEX.test(hex)) return hex;
  const bytes = decodeBase64(text);
  return bytes?.length === 32 ? Buffer.from(bytes).toString('hex') : undefined;
}
