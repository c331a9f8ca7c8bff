import { fileURLToPath } from 'node:url';
import { startScript } from '../processes.mjs';

/** Opens that many connections through the kernel to the echo at `port`; 500 of them say something each second. */
export async function openConnections(gateway, { port, count }) {
  await gateway.call('PUT', '/outbound/default-policy', { policy: 'DIRECT' });
  const status = await gateway.call('GET', '/system/status');
  const listener = status.kernel.listeners.find(({ state }) => state === 'listening');
  const script = fileURLToPath(new URL('clients.mjs', import.meta.url));
  const { child, first } = await startScript(script, [listener.port, port, count, 500].map(String));
  const { active } = (await gateway.call('GET', '/dashboard')).connections;
  if (first.open !== count || active < count) throw new Error(`only ${active} connections are open`);
  return { connections: child };
}
