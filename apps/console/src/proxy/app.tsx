import type { AuthStatusResponse, KernelListResponse } from '@gatehouse/contracts';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useApi } from '../shared/api/api-context.js';
import { messageOf } from '../shared/api/api-error.js';
import type { Session, SessionState } from '../shared/api/session.js';
import { Trouble } from '../shared/components/page.js';
import { KeptPreferences } from '../shared/frame/kept-preferences.js';
import { Shell } from '../shared/frame/shell.js';
import { useResource } from '../shared/state/use-resource.js';
import { Login } from './login/login.js';
import { t } from './messages/index.js';
import { navigationFor } from './pages.js';

/** Asks whether a login is needed, then shows the login or the console. */
export function App({ session }: { session: Session }) {
  const api = useApi();
  const [state, setState] = useState<SessionState>(session.state);
  const [error, setError] = useState<string | null>(null);
  const begin = async (): Promise<void> => {
    try {
      session.begin((await api.get<AuthStatusResponse>('/auth/status')).enabled);
      setError(null);
    } catch (failure) {
      setError(messageOf(failure));
    }
  };
  useEffect(() => {
    const stop = session.onChange(setState);
    void begin();
    return stop;
  }, []);
  switch (state) {
    case 'unknown':
      return (
        <main class="login">
          <Trouble error={error} retry={() => void begin()} waits />
        </main>
      );
    case 'signed-out':
    case 'expired':
      return <Login session={session} expired={state === 'expired'} />;
    case 'signed-in':
    case 'open':
      return (
        <KeptPreferences>
          <Pages session={session} open={state === 'open'} />
        </KeptPreferences>
      );
  }
}

function Pages({ session, open }: { session: Session; open: boolean }) {
  const api = useApi();
  const { data } = useResource((signal) => api.get<KernelListResponse>('/kernels', {}, signal), []);
  const hasKernels = data !== undefined && (data.separate || data.total > 1);
  return (
    <Shell
      product={t('app.product')}
      navigation={useMemo(() => navigationFor(hasKernels), [hasKernels])}
      foot={<Foot session={session} open={open} />}
    />
  );
}

function Foot({ session, open }: { session: Session; open: boolean }) {
  if (open) return <p class="muted">{t('app.loginOff')}</p>;
  return (
    <button type="button" onClick={() => session.signOut()}>
      {t('frame.signOut')}
    </button>
  );
}
