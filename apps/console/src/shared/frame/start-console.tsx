import { render, type ComponentType } from 'preact';
import { ApiClient } from '../api/api-client.js';
import { ApiContext } from '../api/api-context.js';
import { Session } from '../api/session.js';
import { NoticeProvider } from '../components/notices.js';
import { SessionContext } from './session-context.js';

/** Draws a service's console into its page. The API is beside the page, wherever a proxy in front has put both. */
export function startConsole(service: string, App: ComponentType<{ session: Session }>): void {
  const session = new Session(`gatehouse.${service}.token`, sessionStorage);
  const api = new ApiClient(new URL('api/v1', document.baseURI).pathname, session);
  render(
    <ApiContext.Provider value={api}>
      <SessionContext.Provider value={session}>
        <NoticeProvider>
          <App session={session} />
        </NoticeProvider>
      </SessionContext.Provider>
    </ApiContext.Provider>,
    document.getElementById('console')!,
  );
}
