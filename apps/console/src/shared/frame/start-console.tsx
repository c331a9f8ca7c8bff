import { render, type ComponentType } from 'preact';
import { ApiClient } from '../api/api-client.js';
import { ApiContext, ChangesContext } from '../api/api-context.js';
import { LiveChanges, openStreamTabs } from '../api/live-changes.js';
import { openSessionTabs } from '../api/session-tabs.js';
import { Session } from '../api/session.js';
import { NoticeProvider } from '../components/notices.js';
import type { Catalogue } from '../messages/catalogue.js';
import { shared } from '../messages/index.js';
import { pageLanguage } from '../messages/language.js';
import { SessionContext } from './session-context.js';
import { chosenTheme, showTheme } from './theme.js';

type App = ComponentType<{ session: Session }>;

/**
 * Draws a service's console into its page, in the reader's language. The API is beside the page, wherever a proxy in front
 * has put both.
 *
 * @param loadApp is called when the messages are there: its modules may use them at once
 */
export async function startConsole(
  service: string,
  { use }: Pick<Catalogue<never>, 'use'>,
  loadApp: () => Promise<App>,
): Promise<void> {
  const language = pageLanguage();
  showTheme(chosenTheme());
  document.documentElement.lang = language;
  await Promise.all([shared.use(language), use(language)]);
  const App = await loadApp();
  const base = new URL('api/v1', document.baseURI).pathname;
  const tabs = `${service} ${base}`;
  const session = new Session(`gatehouse.${service}.token`, sessionStorage, openSessionTabs(tabs));
  const api = new ApiClient(base, session);
  const changes = new LiveChanges(api, openStreamTabs(tabs));
  changes.attach(session);
  render(
    <ApiContext.Provider value={api}>
      <ChangesContext.Provider value={changes}>
        <SessionContext.Provider value={session}>
          <NoticeProvider>
            <App session={session} />
          </NoticeProvider>
        </SessionContext.Provider>
      </ChangesContext.Provider>
    </ApiContext.Provider>,
    document.getElementById('console')!,
  );
}
