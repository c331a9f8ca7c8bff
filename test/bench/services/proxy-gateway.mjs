import { callerOf, startService, startWorkplace } from './built-service.mjs';

const PASSWORD = 'a-password-for-benchmarks';

/**
 * A built proxy gateway. `call(method, route, body)` is signed in; `databaseUrl` is the service's own; `end()` stops and
 * removes everything. `output`: where its log goes, a file descriptor.
 */
export async function startProxyGateway(env = {}, { output } = {}) {
  const workplace = await startWorkplace();
  const service = await startService('proxy-gateway', workplace, {
    env: { GATEHOUSE_ADMIN_PASSWORD: PASSWORD, PROXY_GATEWAY_PORT: '0', PROXY_KERNEL_PORT: '0', ...env },
    output,
  });
  return {
    base: service.base,
    call: callerOf(service, { password: PASSWORD }),
    databaseUrl: workplace.databaseUrl,
    password: PASSWORD,
    pid: service.pid,
    async end() {
      await service.stop();
      await workplace.end();
    },
  };
}
