import type { LoginResponse } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import type { Session } from '../../shared/api/session.js';
import { TextField } from '../../shared/components/fields.js';
import { SignIn } from '../../shared/frame/sign-in.js';
import { useSignIn } from '../../shared/state/use-sign-in.js';
import { t } from '../messages/index.js';

/** Asks for the administrator's password. */
export function Login({ session, expired }: { session: Session; expired: boolean }) {
  const api = useApi();
  const attempts = useSignIn();
  const [password, setPassword] = useState('');
  const signIn = (): Promise<void> =>
    attempts.attempt(async () => session.signIn((await api.post<LoginResponse>('/auth/login', { password })).token));
  return (
    <SignIn product={t('app.product')} attempts={attempts} expired={expired} onSignIn={signIn}>
      <AccountName />
      <TextField
        label={t('app.password')}
        type="password"
        autoComplete="current-password"
        value={password}
        onInput={setPassword}
        required
        autofocus
      />
    </SignIn>
  );
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
