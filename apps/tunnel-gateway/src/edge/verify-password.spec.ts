import { hashPassword } from '@gatehouse/auth';
import { expect, it } from 'vitest';
import { verifyPassword } from './verify-password.js';

it('accepts the passwords that the service hashed', async () => {
  const encoded = await hashPassword('pässword');
  expect(await verifyPassword(encoded, 'pa\u0308ssword')).toBe(true);
  expect(await verifyPassword(encoded, 'password')).toBe(false);
  for (const wrong of ['', 'sha256:aa', encoded.replace(/m=\d+/, 'm=999999'), encoded.replace(/t=\d+/, 't=0')]) {
    expect(await verifyPassword(wrong, 'pässword')).toBe(false);
  }
});
