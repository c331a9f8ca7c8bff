import type { Login } from '../interfaces/index.js';
import { parseWishes } from './wishes.js';

/** Between a user's name and its wishes. */
const SEPARATOR = '-';

/**
 * The user that the name in a login means: the one with this name, or the longest name that wishes may follow. The text
 * itself if there is no such user.
 */
export function userOfLogin(text: string, names: Pick<ReadonlySet<string>, 'has'>): string {
  if (names.has(text)) return text;
  for (let end = text.lastIndexOf(SEPARATOR); end > 0; end = text.lastIndexOf(SEPARATOR, end - 1)) {
    const name = text.slice(0, end);
    if (names.has(name)) return name;
  }
  return text;
}

/** @param user that of the text. @throws WishError. */
export function readLogin(text: string, user: string): Login {
  return text === user ? { user } : { user, wishes: parseWishes(text.slice(user.length + SEPARATOR.length)) };
}
