import { useState } from 'preact/hooks';
import { ApiError, messageOf } from '../api/api-error.js';
import { useCountdown } from './use-countdown.js';

export interface SignInAttempts {
  busy: boolean;
  error: string | null;
  /** Seconds before another attempt makes sense. */
  wait: number;
  /** Runs an attempt, and keeps what went wrong with it. */
  attempt: (signIn: () => Promise<void>) => Promise<void>;
  forget: () => void;
}

/** Attempts to sign in; the service says how long to wait after too many wrong ones. */
export function useSignIn(): SignInAttempts {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const [wait, setWait] = useCountdown();
  const attempt = async (signIn: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      await signIn();
    } catch (failure) {
      setError(messageOf(failure));
      if (failure instanceof ApiError && failure.status === 429) setWait(failure.retryAfter ?? 30);
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, wait, attempt, forget: () => setError(null) };
}
