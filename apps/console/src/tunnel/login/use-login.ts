import type { TunnelLoginView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { ApiError } from '../../shared/api/api-error.js';
import type { Session } from '../../shared/api/session.js';
import { useSignIn, type SignInAttempts } from '../../shared/state/use-sign-in.js';

export interface Credentials {
  username: string;
  password: string;
  code: string;
}

export interface LoginSteps {
  attempts: SignInAttempts;
  /** The password was right, and the account has an authenticator. */
  needsCode: boolean;
  signIn: (credentials: Credentials) => Promise<void>;
  startAgain: () => void;
}

/** Signs in with name and password, and with a code once the service asks for one. */
export function useLogin(session: Session): LoginSteps {
  const api = useApi();
  const attempts = useSignIn();
  const [needsCode, setNeedsCode] = useState(false);
  const logIn = async ({ code, ...credentials }: Credentials): Promise<void> => {
    const body = { ...credentials, ...(needsCode && { code: code.replaceAll(/\s/g, '') }) };
    try {
      session.signIn((await api.post<TunnelLoginView>('/auth/login', body)).token);
    } catch (failure) {
      // The first time it is no failure but the next step.
      if (needsCode || !(failure instanceof ApiError && failure.code === 'TOTP_REQUIRED')) throw failure;
      setNeedsCode(true);
    }
  };
  const startAgain = (): void => {
    setNeedsCode(false);
    attempts.forget();
  };
  return { attempts, needsCode, signIn: (credentials) => attempts.attempt(() => logIn(credentials)), startAgain };
}
