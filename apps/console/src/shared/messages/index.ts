import { createCatalogue, type Catalogue } from './catalogue.js';
import { en } from './en.js';

type Messages = Catalogue<typeof en>;

/** Words that both consoles share. */
export const shared: Messages = createCatalogue(en, async () => (await import('./zh-CN.js')).zhCN);
export const t: Messages['t'] = shared.t;
export const rich: Messages['rich'] = shared.rich;
export const language: Messages['language'] = shared.language;
export { en as sharedMessages };
