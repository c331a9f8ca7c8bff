import { CreateUsers1763668802000 } from './1763668802000-create-users.js';

/** Every migration, oldest first. */
export const MIGRATIONS = [CreateUsers1763668802000];
