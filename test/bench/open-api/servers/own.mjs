// The service itself at the paths of RFC 6749 and 7662.
import { prepareRefreshTokens } from '../refresh-tokens.mjs';
import { basic } from './basic.mjs';

/** As every server here: where its endpoints are, how its client names itself, refresh tokens of as many grants. */
export async function prepareOwn(service, count) {
  const { secret, tokens } = await prepareRefreshTokens(service, count);
  const port = Number(new URL(service.urls[0]).port);
  const authorization = basic('bench', secret);
  return {
    name: 'gatehouse',
    pid: service.pids[0],
    token: { port, path: '/oauth2/token', authorization },
    introspection: { port, path: '/oauth2/introspect', authorization },
    tokens,
    end: async () => {},
  };
}
