import { CreateSiteAccounts1763668801000 } from './1763668801000-create-site-accounts.js';

/** Every migration, oldest first. */
export const MIGRATIONS = [CreateSiteAccounts1763668801000];
