/** Passwords that are guessed first, including those of examples. */
const KNOWN = new Set([
  '12345678',
  '123456789',
  '1234567890',
  'admin123',
  'administrator',
  'changeit',
  'changeme',
  'change-me',
  'gatehouse',
  'iloveyou',
  'letmein1',
  'password',
  'password1',
  'passw0rd',
  'qwertyui',
  'qwertyuiop',
  'secret123',
]);

export function isKnownPassword(password: string): boolean {
  return KNOWN.has(password.toLowerCase());
}
