// Runs the supervisor from its TypeScript sources in a process of its own, so that specs can kill it or run it as
// another user. Arguments: the folder of the sources, and the options of startEmbeddedPostgres() as JSON.
import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith('./') && context.parentURL !== undefined) {
      const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
      if (existsSync(fileURLToPath(source))) return next(source.href, context);
    }
    return next(specifier, context);
  },
});

const [, , sources, options] = process.argv;
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const load = (name) => import(pathToFileURL(join(sources, name)).href);

try {
  const { startEmbeddedPostgres } = await load('start-embedded-postgres.ts');
  const log = ({ en }) => say({ log: en });
  const began = performance.now();
  const postgres = await startEmbeddedPostgres({ ...JSON.parse(options), log });
  const { pid, port, dataDirectory } = postgres;
  const tookMs = performance.now() - began;
  say({ ready: { pid, port, dataDirectory, url: postgres.url(), tookMs } });
  const queryAndStop = async () => {
    const { default: pg } = await import(import.meta.resolve('pg', pathToFileURL(join(sources, 'port.ts')).href));
    const client = new pg.Client({ connectionString: postgres.url() });
    await client.connect();
    const { rows } = await client.query('SELECT 42 AS answer');
    await client.end();
    say({ answered: rows[0].answer });
    await postgres.stop();
    process.exit(0);
  };
  process.once('SIGTERM', () => void queryAndStop());
  // Nothing else keeps the process alive.
  setInterval(() => undefined, 60_000);
} catch (error) {
  say({ error: { name: error.name, code: error.code, message: error.message } });
  process.exitCode = 1;
}
