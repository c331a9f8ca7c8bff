import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { waitFor } from '@gatehouse/testing';
import type { AnyJson, TunnelWorld } from './tunnel-world.js';

export interface Visit {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** A visit of a host; resolves to the status when the answer has ended. */
export async function visitHost(port: number, host: string, visit: Visit = {}): Promise<number> {
  const { method = 'GET', path = '/', headers = {}, body } = visit;
  const asked = request({ host: '127.0.0.1', port, method, path, headers: { host, ...headers }, agent: false });
  asked.end(body);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
  return answer.statusCode ?? 0;
}

/** Turns recording on for a host and visits it until a request is recorded: the last one, which has ended. */
export async function recordOne(world: TunnelWorld, hostId: number, visit: Visit = {}): Promise<AnyJson> {
  const { body: host } = await world.admin('PATCH', `/hosts/${hostId}`, { record_requests: 'full' });
  return waitFor(async () => {
    await visitHost(world.edges.ports.http, host.host.replace('*', 'any'), visit);
    const { body } = await world.admin('GET', `/hosts/${hostId}/requests?limit=1`);
    return body.items[0]?.ended_ms !== null && body.items[0];
  });
}
