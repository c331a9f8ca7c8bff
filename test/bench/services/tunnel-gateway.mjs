import { callerOf, startService } from './built-service.mjs';

export const PASSWORD = 'a-password-for-benchmarks';

/** A built tunnel gateway. `call(method, route, body)` is signed in as the administrator, whose password is PASSWORD. */
export async function startTunnelGateway(workplace, { env = {}, output } = {}) {
  const service = await startService('tunnel-gateway', workplace, {
    env: {
      GATEHOUSE_ADMIN_PASSWORD: PASSWORD,
      TUNNEL_GATEWAY_PORT: '0',
      TUNNEL_LISTEN_ADDRESS: '127.0.0.1',
      TUNNEL_AGENT_PORT: '0',
      TUNNEL_HTTP_PORT: '0',
      TUNNEL_HTTPS_PORT: '0',
      ...env,
    },
    output,
  });
  return { ...service, call: callerOf(service, { username: 'admin', password: PASSWORD }) };
}
