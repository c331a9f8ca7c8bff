import { useState } from 'preact/hooks';
import type { Session } from '../../shared/api/session.js';
import { TextField } from '../../shared/components/fields.js';
import { SignIn } from '../../shared/frame/sign-in.js';
import { useLogin, type Credentials } from './use-login.js';
import { code } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';

const EMPTY: Credentials = { username: '', password: '', code: '' };

/** Asks for name and password, then for a code where the account has an authenticator. */
export function Login({ session, expired }: { session: Session; expired: boolean }) {
  const { attempts, needsCode, signIn, startAgain } = useLogin(session);
  const [credentials, setCredentials] = useState(EMPTY);
  const set = (changes: Partial<Credentials>): void => setCredentials((before) => ({ ...before, ...changes }));
  const otherAccount = (
    <button
      type="button"
      class="quiet"
      onClick={() => {
        setCredentials(EMPTY);
        startAgain();
      }}
    >
      {t('login.otherAccount')}
    </button>
  );
  return (
    <SignIn
      product={t('app.product')}
      attempts={attempts}
      expired={expired}
      foot={needsCode ? otherAccount : <FirstTime />}
      onSignIn={() => signIn(credentials)}
    >
      {needsCode ? (
        <CodeField code={credentials.code} set={set} />
      ) : (
        <NameAndPassword credentials={credentials} set={set} />
      )}
    </SignIn>
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
        label={t('signIn.username')}
        autoComplete="username"
        value={username}
        onInput={(name) => set({ username: name })}
        required
        autofocus
      />
      <TextField
        label={t('signIn.password')}
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
      label={t('login.code')}
      hint={t('login.codeHint')}
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
      <summary>{t('login.firstTime')}</summary>
      <p class="muted">{rich('login.firstTimeText', { code })}</p>
    </details>
  );
}
