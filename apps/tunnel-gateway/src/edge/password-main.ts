/** Checks passwords of visitors for an edge, in a process of its own that gives way to everything else. */
import { constants, setPriority } from 'node:os';
import type { PasswordAnswer, PasswordQuestion } from './password-process.js';
import { verifyPassword } from './verify-password.js';

try {
  setPriority(constants.priority.PRIORITY_LOW);
} catch {
  // Some sandboxes forbid it. It is a process of its own all the same.
}

process.on('message', ({ id, encoded, password }: PasswordQuestion) => {
  const answer = (fits: boolean): void => {
    if (process.connected) process.send?.({ id, fits } satisfies PasswordAnswer, undefined, undefined, () => undefined);
  };
  verifyPassword(encoded, password).then(answer, () => answer(false));
});
process.on('disconnect', () => process.exit());
// Whoever started it decides when it ends; a Ctrl-C reaches the whole group.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
