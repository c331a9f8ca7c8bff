import type { Translation } from '@gatehouse/i18n';
import type { en } from '../en/index.js';
import { access } from './access.js';
import { frame } from './frame.js';
import { manage } from './manage.js';
import { publish } from './publish.js';
import { publishing } from './publishing.js';
import { requests } from './requests.js';

export const zhCN: Translation<typeof en> = { ...frame, ...publish, ...publishing, ...access, ...manage, ...requests };
