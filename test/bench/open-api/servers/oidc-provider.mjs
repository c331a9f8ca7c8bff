// node-oidc-provider on a database of the same PostgreSQL.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startScript, stop } from '../../processes.mjs';
import { basic } from './basic.mjs';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const PROCESS = fileURLToPath(new URL('./oidc-provider-process.mjs', import.meta.url));

/** Where `npm run peers -- --oidc-provider` puts it, or null. */
export function findOidcProvider() {
  const bin = process.env.GATEHOUSE_PEERS_BIN ?? path.join(ROOT, '.gatehouse/peers/bin');
  const folder = path.join(bin, '../oidc-provider/node_modules/oidc-provider');
  return existsSync(path.join(folder, 'package.json')) ? folder : null;
}

export async function startOidcProvider({ folder, databaseUrl, count }) {
  const secret = randomBytes(32).toString('base64url');
  const env = { ...process.env, NODE_ENV: 'production' };
  const { child, first } = await startScript(PROCESS, [folder, databaseUrl, secret], { env });
  child.send({ seed: count });
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`oidc-provider ended with ${code}`)));
  ended.catch(() => {});
  const [{ tokens }] = await Promise.race([once(child, 'message'), ended]);
  const authorization = basic('bench', secret);
  return {
    name: 'oidc-provider',
    version: first.version,
    pid: child.pid,
    token: { port: first.port, path: '/token', authorization },
    introspection: { port: first.port, path: '/token/introspection', authorization },
    tokens,
    end: () => stop(child),
  };
}
