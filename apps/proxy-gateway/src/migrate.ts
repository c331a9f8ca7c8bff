import 'reflect-metadata';
import { migrateDatabase } from './database.js';
import { readSettings } from './settings.js';

/** The explicit migration command: prints what it ran, exits with 1 and one line when it could not. */
try {
  const applied = await migrateDatabase(readSettings());
  const lines = applied.length === 0 ? ['nothing to migrate'] : applied.map((name) => `applied ${name}`);
  process.stdout.write(lines.map((line) => `proxy-gateway: ${line}\n`).join(''));
} catch (error) {
  process.stderr.write(`proxy-gateway: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
