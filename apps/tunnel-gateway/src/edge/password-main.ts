/** Checks visitors' passwords for an edge, in a separate process of low priority. */
import { constants, setPriority } from 'node:os';
import type { PasswordAnswer, PasswordQuestion } from './password-process.js';
import { verifyPassword } from './verify-password.js';

try {
  setPriority(constants.priority.PRIORITY_LOW);
} catch {
  // Some sandboxes forbid this. It is still a separate process.
}

process.on('message', ({ id, encoded, password }: PasswordQuestion) => {
  const answer = (fits: boolean): void => {
    if (process.connected) process.send?.({ id, fits } satisfies PasswordAnswer, undefined, undefined, () => undefined);
  };
  verifyPassword(encoded, password).then(answer, () => answer(false));
});
process.on('disconnect', () => process.exit());
// The parent decides when it ends; a Ctrl-C reaches the whole process group.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
