import type { KeyScopeWords } from '../../shared/api-keys/key-scopes.js';
import { t } from '../messages/index.js';

/** What keys may do. */
export const MAY: KeyScopeWords = {
  read: t('keys.scopes.read'),
  write: t('keys.scopes.write'),
  admin: t('keys.scopes.admin'),
};
