import { access } from './access.js';
import { frame } from './frame.js';
import { manage } from './manage.js';
import { publish } from './publish.js';
import { publishing } from './publishing.js';
import { requests } from './requests.js';

/** Words of the tunnel gateway's console by page. */
export const en = { ...frame, ...publish, ...publishing, ...access, ...manage, ...requests } as const;
