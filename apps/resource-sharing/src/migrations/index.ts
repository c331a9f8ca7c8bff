import { CreateSiteAccounts1763668801000 } from './1763668801000-create-site-accounts.js';
import { CreateTitlesAndShares1763668801110 } from './1763668801110-create-titles-and-shares.js';

/** Every migration, oldest first. */
export const MIGRATIONS = [CreateSiteAccounts1763668801000, CreateTitlesAndShares1763668801110];
