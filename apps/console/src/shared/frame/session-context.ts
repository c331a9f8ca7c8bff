import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Session } from '../api/session.js';

export const SessionContext = createContext<Session | null>(null);

/** @throws Error outside of a SessionContext. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('no SessionContext above this component');
  return session;
}
