import { createCatalogue, type Catalogue } from '../../shared/messages/catalogue.js';
import { sharedMessages } from '../../shared/messages/index.js';
import { en } from './en/index.js';

type Messages = Catalogue<typeof sharedMessages & typeof en>;

/** Words of the tunnel gateway's console, with the shared ones. */
export const messages: Messages = createCatalogue({ ...sharedMessages, ...en }, async () => ({
  ...(await import('../../shared/messages/zh-CN.js')).zhCN,
  ...(await import('./zh-CN/index.js')).zhCN,
}));
export const t: Messages['t'] = messages.t;
export const rich: Messages['rich'] = messages.rich;
