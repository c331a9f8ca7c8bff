import type { LoginResponse } from '@gatehouse/contracts';
import { useEffect, useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { ApiError, messageOf } from '../../shared/api/api-error.js';
import type { Session } from '../../shared/api/session.js';
import { TextField } from '../../shared/components/fields.js';
import { formatDuration } from '../../shared/format/times.js';
import { Brand } from '../../shared/frame/brand.js';
import { useCountdown } from '../../shared/state/use-countdown.js';
import { PRODUCT } from '../product.js';

/** Asks for the administrator's password; after too many wrong ones it says how long to wait. */
export function Login({ session, expired }: { session: Session; expired: boolean }) {
  const { busy, error, wait, signIn } = useLogin(session);
  const [password, setPassword] = useState('');
  useEffect(() => void (document.title = 'Sign in · Gatehouse'), []);
  return (
    <main class="login">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy && wait === 0) void signIn(password);
        }}
      >
        <Brand product={PRODUCT} />
        <h1 class="hidden">Sign in</h1>
        {expired && error === null && <p role="status">The session has ended. Please sign in again.</p>}
        <AccountName />
        <TextField
          label="Administrator password"
          type="password"
          autoComplete="current-password"
          value={password}
          onInput={setPassword}
          required
          autofocus
        />
        <p class="form-error" role="alert">
          {error}
          {wait > 0 && ` Try again in ${formatDuration(wait * 1000)}.`}
        </p>
        <button type="submit" class="primary" disabled={busy || wait > 0}>
          {busy ? 'Signing in …' : 'Sign in'}
        </button>
      </form>
    </main>
  );
}

function useLogin(session: Session) {
  const api = useApi();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const [wait, setWait] = useCountdown();
  const signIn = async (password: string): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      session.signIn((await api.post<LoginResponse>('/auth/login', { password })).token);
    } catch (failure) {
      setError(messageOf(failure));
      if (failure instanceof ApiError && failure.status === 429) setWait(failure.retryAfter ?? 30);
      setBusy(false);
    }
  };
  return { busy, error, wait, signIn };
}

/** For password managers: there is one account. */
function AccountName() {
  return (
    <input
      class="hidden"
      type="text"
      name="username"
      value="administrator"
      autocomplete="username"
      tabIndex={-1}
      aria-hidden="true"
      readOnly
    />
  );
}
