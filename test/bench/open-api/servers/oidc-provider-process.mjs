// node-oidc-provider as a process of its own. Answers { port, version }; to { seed } it answers refresh tokens of as many grants.
// Arguments: the folder of the package, the database, the client's secret.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { adapterOn, SCHEMA } from './postgres-adapter.mjs';

const [folder, databaseUrl, secret] = process.argv.slice(2);
const CLIENT = 'bench';
const SCOPE = 'meta query';
const AT_ONCE = 10;

const { Provider } = await import(pathToFileURL(path.join(folder, 'lib', 'index.js')).href);
const { version } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
// As many connections as the service has.
const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
await pool.query(SCHEMA);
const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });
const provider = new Provider('http://127.0.0.1', {
  adapter: adapterOn(pool),
  clients: [
    {
      client_id: CLIENT,
      client_secret: secret,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      redirect_uris: ['https://client.example/callback'],
      token_endpoint_auth_method: 'client_secret_basic',
    },
  ],
  jwks: { keys: [{ ...key, use: 'sig', alg: 'RS256' }] },
  cookies: { keys: [randomBytes(32).toString('base64url')] },
  scopes: ['meta', 'query', 'offline_access'],
  features: {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    introspection: { enabled: true, allowedPolicy: (_, client, token) => client.clientId === token.clientId },
    resourceIndicators: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    userinfo: { enabled: false },
  },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  rotateRefreshToken: true,
  ttl: { AccessToken: 3_600, RefreshToken: 30 * 86_400, Grant: 365 * 86_400 },
});
provider.on('server_error', (_, error) => console.error(error));

async function seedOne(number) {
  const accountId = `user-${number % 100}`;
  const grant = new provider.Grant({ accountId, clientId: CLIENT });
  grant.addOIDCScope(SCOPE);
  const grantId = await grant.save();
  const client = await provider.Client.find(CLIENT);
  return new provider.RefreshToken({ accountId, client, grantId, gty: 'authorization_code', scope: SCOPE }).save();
}

async function seed(count) {
  const tokens = [];
  for (let from = 0; from < count; from += AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, index) => from + index);
    tokens.push(...(await Promise.all(numbers.map(seedOne))));
  }
  await pool.query('VACUUM ANALYZE oidc_payloads');
  return tokens;
}

const server = createServer(provider.callback()).listen(0, '127.0.0.1');
await once(server, 'listening');
process.on('disconnect', () => process.exit());
process.on('message', ({ seed: count }) => void seed(count).then((tokens) => process.send({ tokens })));
process.send({ port: server.address().port, version });
