import { access } from './access.js';
import { frame } from './frame.js';
import { manage } from './manage.js';
import { publish } from './publish.js';

/** Words of the tunnel gateway's console by page. */
export const en = { ...frame, ...publish, ...access, ...manage } as const;
