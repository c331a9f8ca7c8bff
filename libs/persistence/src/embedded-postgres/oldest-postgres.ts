/** The oldest PostgreSQL that is supported, by its major version. Migrations and the whole platform are tested on it. */
export const OLDEST_POSTGRES = 14;
