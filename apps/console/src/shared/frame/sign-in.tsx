import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { formatDuration } from '../format/times.js';
import type { SignInAttempts } from '../state/use-sign-in.js';
import { LoginFrame } from './login-frame.js';
import { t } from '../messages/index.js';

interface SignInProps {
  product: string;
  attempts: SignInAttempts;
  /** There was a session before. */
  expired: boolean;
  /** Below the button. */
  foot?: ComponentChildren;
  /** The fields. */
  children: ComponentChildren;
  onSignIn: () => Promise<void>;
}

/** The form of a login; after too many wrong attempts it says how long to wait. */
export function SignIn({ product, attempts: { busy, error, wait }, expired, foot, children, onSignIn }: SignInProps) {
  useEffect(() => void (document.title = `${t('signIn.title')} · Gatehouse`), []);
  return (
    <LoginFrame
      product={product}
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy && wait === 0) void onSignIn();
      }}
    >
      <h1 class="hidden">{t('signIn.title')}</h1>
      {expired && error === null && <p role="status">{t('signIn.expired')}</p>}
      {children}
      <p class="form-error" role="alert">
        {error}
        {wait > 0 && ` ${t('signIn.wait', { duration: formatDuration(wait * 1000) })}`}
      </p>
      <button type="submit" class="primary" disabled={busy || wait > 0}>
        {busy ? t('signIn.busy') : t('signIn.title')}
      </button>
      {foot}
    </LoginFrame>
  );
}
