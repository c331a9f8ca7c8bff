import { createHash } from 'node:crypto';

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const MAX_NAME_BYTES = 30;

/**
 * The 16 bytes of a user's id. What is no UUID but a name of 1 to 30 bytes becomes the UUIDv5 of it in the nil
 * namespace, as Xray does. Null: neither.
 */
export function parseUserId(text: string): Buffer | null {
  if (UUID.test(text)) return Buffer.from(text.replaceAll('-', ''), 'hex');
  const name = Buffer.from(text);
  if (name.length === 0 || name.length > MAX_NAME_BYTES) return null;
  const id = createHash('sha1').update(Buffer.alloc(16)).update(name).digest().subarray(0, 16);
  id[6] = ((id[6] ?? 0) & 0x0f) | 0x50;
  id[8] = ((id[8] ?? 0) & 0x3f) | 0x80;
  return id;
}
