import { withClient } from '@gatehouse/persistence';
import {
  administratorOf,
  authorize,
  newApplication,
  newMember,
  newShare,
  refreshRequest,
  shareBody,
  siteAdministrator,
  type Application,
} from './people.js';
import type { AnswerBook, ReplicaAnswer, ReplicaClient, ReplicaRequest } from './replica-client.js';
import type { ReplicaSet, ServiceName } from './replica-set.js';

/** One request that is done once, whatever happens to it. */
export interface Round {
  client: ReplicaClient;
  request: ReplicaRequest;
  /** How often it took effect. */
  effects: (answer: ReplicaAnswer) => Promise<number>;
}

export interface SweptOperation {
  name: string;
  service: ServiceName;
  /** `id` is new in every round, and made of letters and digits. */
  prepare(id: string): Promise<Round>;
}

const POINTS = 5;
const PLENTY = 100_000;

export async function countRows(databaseUrl: string, sql: string, values: unknown[]): Promise<number> {
  return await withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ n: number }>(`SELECT count(*)::integer AS n FROM ${sql}`, values);
    return rows[0]?.n ?? 0;
  });
}

/** The operations of those services that the set runs. */
export async function sweptOperations(set: ReplicaSet, book: AnswerBook): Promise<SweptOperation[]> {
  const { services } = set.options;
  return [
    ...(services.includes('resource-sharing') ? await sharingOperations(set, book) : []),
    ...(services.includes('proxy-gateway') ? await proxyOperations(set, book) : []),
    ...(services.includes('tunnel-gateway') ? await tunnelOperations(set, book) : []),
  ];
}

async function sharingOperations(set: ReplicaSet, book: AnswerBook): Promise<SweptOperation[]> {
  const url = set.options.databaseUrl;
  const administrator = await siteAdministrator(set, book);
  const [buyer, sharer] = [await newMember(administrator, PLENTY), await newMember(administrator, POINTS)];
  const application = await newApplication(administrator);
  const service = 'resource-sharing';
  const firstToken = await authorize(application, buyer);
  const unlock = async (id: string): Promise<Round> => {
    const { slug } = await newShare(sharer, POINTS);
    const debits = `resource_sharing.ledger_transactions t JOIN resource_sharing.shares s
      ON t.kind = 'unlock' AND t.ref = $1 || ':' || s.id WHERE replace(s.slug::text, '-', '') = replace($2, '-', '')`;
    return {
      client: buyer.open,
      request: { method: 'POST', path: '/api/open/resources/unlock', body: { slug }, key: id },
      effects: () => countRows(url, debits, [String(buyer.id), slug]),
    };
  };
  const share = (id: string): Promise<Round> =>
    Promise.resolve({
      client: sharer.open,
      request: { method: 'POST', path: '/api/open/shares', body: shareBody(id, POINTS), key: id },
      effects: () => countRows(url, 'resource_sharing.shares WHERE link_key LIKE $1', [`%${id}%`]),
    });
  const grant = async (id: string): Promise<Round> => {
    const path = `/api/site/admin/users/${sharer.id}`;
    const balance = async (): Promise<number> =>
      (await administrator.call<{ data: { points: number } }>({ method: 'GET', path }, 1)).data.points;
    const before = await balance();
    return {
      client: administrator,
      request: { method: 'POST', path: `${path}/points`, body: { points: POINTS, ref: id, note: 'sweep' } },
      effects: async () => ((await balance()) - before) / POINTS,
    };
  };
  return [
    { name: 'unlock a share for points', service, prepare: unlock },
    { name: 'share a link', service, prepare: share },
    { name: 'give points', service, prepare: grant },
    { name: 'refresh tokens', service, prepare: refreshing(url, application, { userId: buyer.id, firstToken }) },
  ];
}

/** Each round goes on with the token that the former one was given. */
function refreshing(
  url: string,
  { server }: Application,
  { userId, firstToken }: { userId: number; firstToken: string },
): () => Promise<Round> {
  let token = firstToken;
  const live = `resource_sharing.refresh_tokens r JOIN resource_sharing.grants g ON g.id = r.grant_id
    WHERE g.user_id = $1 AND r.consumed_at IS NULL`;
  return () =>
    Promise.resolve({
      client: server,
      request: refreshRequest(token),
      effects: ({ body }) => {
        token = (body['data'] as { refresh_token: string }).refresh_token;
        return countRows(url, live, [userId]);
      },
    });
}

async function proxyOperations(set: ReplicaSet, book: AnswerBook): Promise<SweptOperation[]> {
  const client = await administratorOf(set, book, 'proxy-gateway');
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
  return [
    { name: 'add a node', service, prepare: add('/proxies', nodeBody, 'nodes WHERE original_name') },
    { name: 'add a rule', service, prepare: add('/rules', ruleBody, "rules WHERE replace(payload, '.example', '')") },
    {
      name: 'add a subscription',
      service,
      prepare: add('/subscriptions', subscriptionBody, 'subscriptions WHERE name'),
    },
  ];
}

async function tunnelOperations(set: ReplicaSet, book: AnswerBook): Promise<SweptOperation[]> {
  const client = await administratorOf(set, book, 'tunnel-gateway');
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
  ];
}
