import { administratorOf } from './people.js';
import type { AnswerLog } from './replica-client.js';
import type { ReplicaSet } from './replica-set.js';
import { countRows, isGone, type Round, type SweptOperation } from './swept-round.js';
import { sharingOperations } from './swept-sharing.js';

/** The operations of those services that the set runs. */
export async function sweptOperations(set: ReplicaSet, answerLog: AnswerLog): Promise<SweptOperation[]> {
  const { services } = set.options;
  return [
    ...(services.includes('resource-sharing') ? await sharingOperations(set, answerLog) : []),
    ...(services.includes('proxy-gateway') ? await proxyOperations(set, answerLog) : []),
    ...(services.includes('tunnel-gateway') ? await tunnelOperations(set, answerLog) : []),
  ];
}

async function proxyOperations(set: ReplicaSet, answerLog: AnswerLog): Promise<SweptOperation[]> {
  const client = await administratorOf(set, answerLog, 'proxy-gateway');
  const add =
    (path: string, bodyOf: (id: string) => object, found: string) =>
    (id: string): Promise<Round> =>
      Promise.resolve({
        client,
        request: { method: 'POST', path: `/api/v1${path}`, body: bodyOf(id), key: id },
        effects: () => countRows(set.options.databaseUrl, `proxy_gateway.${found} = $1`, [id]),
      });
  const nodeBody = (id: string): object => ({
    name: id,
    type: 'trojan',
    raw_config: `trojan://sweep@${id}.example:443#${id}`,
  });
  const ruleBody = (id: string): object => ({ type: 'DOMAIN', payload: `${id}.example`, target: 'DIRECT' });
  // Port 9 (discard): refused at once.
  const subscriptionBody = (id: string): object => ({ name: id, url: 'http://127.0.0.1:9/', allow_private: true });
  const service = 'proxy-gateway';
  const addNode = add('/proxies', nodeBody, 'nodes WHERE original_name');
  const addRule = add('/rules', ruleBody, "rules WHERE replace(payload, '.example', '')");
  return [
    { name: 'add a node', service, prepare: addNode },
    { name: 'add a rule', service, prepare: addRule },
    {
      name: 'add a subscription',
      service,
      prepare: add('/subscriptions', subscriptionBody, 'subscriptions WHERE name'),
    },
    { name: 'remove a node', service, prepare: removing(set, addNode, 'proxy_gateway.nodes') },
    { name: 'remove a rule', service, prepare: removing(set, addRule, 'proxy_gateway.rules') },
  ];
}

async function tunnelOperations(set: ReplicaSet, answerLog: AnswerLog): Promise<SweptOperation[]> {
  const client = await administratorOf(set, answerLog, 'tunnel-gateway');
  const url = set.options.databaseUrl;
  const service = 'tunnel-gateway';
  const owner = await client.call<{ id: number }>({ method: 'POST', path: '/api/v1/clients', body: { name: 'sweep' } });
  const addClient = (id: string): Promise<Round> =>
    Promise.resolve({
      client,
      request: { method: 'POST', path: '/api/v1/clients', body: { name: id }, key: id },
      effects: () => countRows(url, 'tunnel_gateway.clients WHERE name = $1', [id]),
    });
  const addTunnel = (id: string): Promise<Round> => {
    const target = { client_id: owner.id, mode: 'tcp', listen_ip: '127.0.0.1', listen_port: 0, name: id };
    return Promise.resolve({
      client,
      request: { method: 'POST', path: '/api/v1/tunnels', body: { ...target, target_addr: '127.0.0.1:9' }, key: id },
      effects: () => countRows(url, 'tunnel_gateway.tunnels WHERE name = $1', [id]),
    });
  };
  return [
    { name: 'add a client', service, prepare: addClient },
    { name: 'add a tunnel', service, prepare: addTunnel },
    { name: 'remove a client', service, prepare: removing(set, addClient, 'tunnel_gateway.clients') },
    { name: 'remove a tunnel', service, prepare: removing(set, addTunnel, 'tunnel_gateway.tunnels') },
  ];
}

/** Removes what `add` has made before. */
function removing(set: ReplicaSet, add: SweptOperation['prepare'], table: string): SweptOperation['prepare'] {
  return async (id) => {
    const { client, request } = await add(id);
    const made = await client.call<{ id: number }>(request);
    return {
      client,
      request: { method: 'DELETE', path: `${request.path}/${made.id}` },
      effects: async () => 1 - (await countRows(set.options.databaseUrl, `${table} WHERE id = $1`, [made.id])),
      isDone: isGone,
    };
  };
}
