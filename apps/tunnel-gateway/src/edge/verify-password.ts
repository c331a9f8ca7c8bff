import { argon2, timingSafeEqual } from 'node:crypto';

const PHC = /^\$argon2id\$v=19\$m=(\d{1,6}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;
/** Upper bound in KiB for the memory that a stored hash may ask for, in case it was tampered with. */
const MAX_MEMORY = 262_144;

/** Compares a password with an argon2id hash (PHC string). It is here because the edge loads no framework. */
export async function verifyPassword(encoded: string, password: string): Promise<boolean> {
  const [, memory, passes, parallelism, salt = '', tag = ''] = PHC.exec(encoded) ?? [];
  const expected = Buffer.from(tag, 'base64');
  const settings = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  if (tag === '' || settings.memory > MAX_MEMORY || settings.memory < 8 * settings.parallelism) return false;
  if (settings.passes < 1 || settings.parallelism < 1) return false;
  const found = await new Promise<Buffer>((resolve, reject) => {
    // The same password may be composed differently by keyboards.
    const message = Buffer.from(password.normalize('NFKC'));
    const nonce = Buffer.from(salt, 'base64');
    argon2('argon2id', { message, nonce, ...settings, tagLength: expected.length }, (error, bytes) => {
      if (error === null) resolve(bytes);
      else reject(error);
    });
  });
  return timingSafeEqual(found, expected);
}
