import type { TunnelLoginView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { ApiError, messageOf } from '../../shared/api/api-error.js';
import type { Session } from '../../shared/api/session.js';
import { useCountdown } from '../../shared/state/use-countdown.js';

export interface Credentials {
  username: string;
  password: string;
  code: string;
}

export interface LoginSteps {
  busy: boolean;
  error: string | null;
  /** Seconds before another attempt makes sense. */
  wait: number;
  /** The password was right, and the account has an authenticator. */
  needsCode: boolean;
  signIn: (credentials: Credentials) => Promise<void>;
  startAgain: () => void;
}

/** Signs in with name and password, and with a code once the service asks for one. */
export function useLogin(session: Session): LoginSteps {
  const api = useApi();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const [needsCode, setNeedsCode] = useState(false);
  const [wait, setWait] = useCountdown();
  const signIn = async ({ code, ...credentials }: Credentials): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      const body = { ...credentials, ...(needsCode && { code: code.replaceAll(/\s/g, '') }) };
      session.signIn((await api.post<TunnelLoginView>('/auth/login', body)).token);
    } catch (failure) {
      const asksForCode = failure instanceof ApiError && failure.code === 'TOTP_REQUIRED';
      if (asksForCode) setNeedsCode(true);
      if (!asksForCode || needsCode) setError(messageOf(failure));
      if (failure instanceof ApiError && failure.status === 429) setWait(failure.retryAfter ?? 30);
      setBusy(false);
    }
  };
  const startAgain = (): void => {
    setNeedsCode(false);
    setError(null);
  };
  return { busy, error, wait, needsCode, signIn, startAgain };
}
