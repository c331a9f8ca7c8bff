import { render } from 'preact';
import { ApiClient } from '../shared/api/api-client.js';
import { ApiContext } from '../shared/api/api-context.js';
import { Session } from '../shared/api/session.js';
import { NoticeProvider } from '../shared/components/notices.js';
import { App } from './app.js';
import { SessionContext } from './session-context.js';

const session = new Session('gatehouse.proxy-gateway.token', sessionStorage);
const api = new ApiClient('/api/v1', session);

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
