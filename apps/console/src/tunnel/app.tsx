import type { TunnelGatewayView, TunnelSetupView, TunnelUserView } from '@gatehouse/contracts';
import { useEffect, useState } from 'preact/hooks';
import { useApi } from '../shared/api/api-context.js';
import type { Session, SessionState } from '../shared/api/session.js';
import { Trouble, Waiting } from '../shared/components/page.js';
import { KeptPreferences } from '../shared/frame/kept-preferences.js';
import { Shell } from '../shared/frame/shell.js';
import { useAction } from '../shared/state/use-action.js';
import { useResource } from '../shared/state/use-resource.js';
import { FirstSetup } from './login/first-setup.js';
import { Login } from './login/login.js';
import { t } from './messages/index.js';
import { navigationFor } from './pages.js';
import { GatewayContext } from './parts/gateway-context.js';
import { UserContext } from './user-context.js';

/** The login page, or the console of the user who is signed in. */
export function App({ session }: { session: Session }) {
  const [state, setState] = useState<SessionState>(session.state);
  useEffect(() => {
    const stop = session.onChange(setState);
    session.begin(true);
    return stop;
  }, []);
  switch (state) {
    case 'unknown':
      return null;
    case 'signed-out':
    case 'expired':
      return <SignedOut session={session} expired={state === 'expired'} />;
    case 'signed-in':
    case 'open':
      return <SignedIn session={session} />;
  }
}

/** Without a user there is a setup page. If the service does not answer, the login page says what is wrong. */
function SignedOut({ session, expired }: { session: Session; expired: boolean }) {
  const api = useApi();
  const { data, error } = useResource((signal) => api.get<TunnelSetupView>('/auth/setup', {}, signal), []);
  if (data === undefined && error === null) {
    return (
      <main class="login">
        <Waiting />
      </main>
    );
  }
  return data?.needed ? <FirstSetup session={session} /> : <Login session={session} expired={expired} />;
}

function SignedIn({ session }: { session: Session }) {
  const api = useApi();
  const { data, error, reload } = useResource(async (signal) => {
    const user = await api.get<TunnelUserView>('/auth/me', {}, signal);
    return { user, gateway: await api.get<TunnelGatewayView>('/gateway', {}, signal) };
  }, []);
  if (data === undefined) {
    return (
      <main class="login">
        <Trouble error={error} retry={reload} waits />
      </main>
    );
  }
  const { user, gateway } = data;
  return (
    <UserContext.Provider value={{ user, reload }}>
      <GatewayContext.Provider value={gateway}>
        <KeptPreferences>
          <Shell
            product={t('app.product')}
            navigation={navigationFor(user.role)}
            foot={<Foot session={session} user={user} />}
          />
        </KeptPreferences>
      </GatewayContext.Provider>
    </UserContext.Provider>
  );
}

function Foot({ session, user }: { session: Session; user: TunnelUserView }) {
  const api = useApi();
  const { busy, run } = useAction();
  const signOut = async (): Promise<void> => {
    // The token is removed here even if the service cannot be reached.
    await run(() => api.post('/auth/logout'));
    session.signOut();
  };
  return (
    <>
      <span class="muted">
        {user.username} · {t(`app.roles.${user.role}`)}
      </span>
      <button type="button" disabled={busy} onClick={() => void signOut()}>
        {t('frame.signOut')}
      </button>
    </>
  );
}
