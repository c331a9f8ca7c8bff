import type { TunnelUserView } from '@gatehouse/contracts';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

interface SignedInUser {
  user: TunnelUserView;
  /** Reads the user again, after a change of their own. */
  reload: () => void;
}

export const UserContext = createContext<SignedInUser | null>(null);

function useSignedIn(): SignedInUser {
  const signedIn = useContext(UserContext);
  if (signedIn === null) throw new Error('no UserContext above this component');
  return signedIn;
}

/** Who is signed in. @throws Error outside of a UserContext. */
export function useUser(): TunnelUserView {
  return useSignedIn().user;
}

export function useReloadUser(): () => void {
  return useSignedIn().reload;
}

/** Whether to show what changes something: viewers would be refused. */
export function useMayWrite(): boolean {
  return useUser().role !== 'viewer';
}

export function useIsAdministrator(): boolean {
  return useUser().role === 'admin';
}
