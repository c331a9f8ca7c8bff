import { useEffect, useState } from 'preact/hooks';
import type { Session } from '../../shared/api/session.js';
import { TextField } from '../../shared/components/fields.js';
import { Brand } from '../../shared/frame/brand.js';
import { formatDuration } from '../../shared/format/times.js';
import { PRODUCT } from '../product.js';
import { useLogin, type Credentials } from './use-login.js';

const EMPTY: Credentials = { username: '', password: '', code: '' };

/** Asks for name and password, then for a code where the account has an authenticator. */
export function Login({ session, expired }: { session: Session; expired: boolean }) {
  const { busy, error, wait, needsCode, signIn, startAgain } = useLogin(session);
  const [credentials, setCredentials] = useState(EMPTY);
  useEffect(() => void (document.title = 'Sign in · Gatehouse'), []);
  const set = (changes: Partial<Credentials>): void => setCredentials((before) => ({ ...before, ...changes }));
  return (
    <main class="login">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy && wait === 0) void signIn(credentials);
        }}
      >
        <Brand product={PRODUCT} />
        <h1 class="hidden">Sign in</h1>
        {expired && error === null && <p role="status">The session has ended. Please sign in again.</p>}
        {needsCode ? (
          <CodeField code={credentials.code} set={set} />
        ) : (
          <NameAndPassword credentials={credentials} set={set} />
        )}
        <p class="form-error" role="alert">
          {error}
          {wait > 0 && ` Try again in ${formatDuration(wait * 1000)}.`}
        </p>
        <button type="submit" class="primary" disabled={busy || wait > 0}>
          {busy ? 'Signing in …' : 'Sign in'}
        </button>
        {needsCode ? (
          <button
            type="button"
            class="quiet"
            onClick={() => {
              setCredentials(EMPTY);
              startAgain();
            }}
          >
            Sign in as somebody else
          </button>
        ) : (
          <FirstTime />
        )}
      </form>
    </main>
  );
}

interface PartProps {
  credentials: Credentials;
  set: (changes: Partial<Credentials>) => void;
}

function NameAndPassword({ credentials: { username, password }, set }: PartProps) {
  return (
    <>
      <TextField
        label="User name"
        autoComplete="username"
        value={username}
        onInput={(name) => set({ username: name })}
        required
        autofocus
      />
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        value={password}
        onInput={(text) => set({ password: text })}
        required
      />
    </>
  );
}

function CodeField({ code, set }: { code: string; set: PartProps['set'] }) {
  return (
    <TextField
      label="Code of your authenticator"
      hint="Six digits that change every half a minute, or one of your recovery codes"
      autoComplete="one-time-code"
      value={code}
      onInput={(text) => set({ code: text })}
      required
      autofocus
    />
  );
}

function FirstTime() {
  return (
    <details class="first-time">
      <summary>The first time?</summary>
      <p class="muted">
        The first user is <code>admin</code>. The password is the one in <code>GATEHOUSE_ADMIN_PASSWORD</code>;{' '}
        <code>npm start</code> shows it below its table, too, where it made one itself.
      </p>
    </details>
  );
}
