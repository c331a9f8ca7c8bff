import { runningDatabaseUrl } from './with-database.js';

/** `npm run db:url`: the bare connection string, for `psql "$(npm run --silent db:url)"`. */
export function databaseUrlCommand(): Promise<number> {
  process.stdout.write(`${runningDatabaseUrl(process.env)}\n`);
  return Promise.resolve(0);
}
