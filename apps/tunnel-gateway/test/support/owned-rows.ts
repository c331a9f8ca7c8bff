import { makeCertificate } from '@gatehouse/testing';
import { caller, TunnelWorld, type AnyJson, type Caller } from './tunnel-world.js';

export const PASSWORD = 'correct horse battery';

export interface Owner {
  id: number;
  name: string;
}

/** The rows of a user, one of each kind. */
export interface Rows {
  owner: number;
  user: number;
  client: number;
  tunnel: number;
  host: number;
  rule: number;
  addressList: number;
  policy: number;
  webhook: number;
  session: number;
  domain: number;
  apiKey: number;
}

type Kind = Exclude<keyof Rows, 'owner'>;

const KINDS: readonly Kind[] = [
  ...(['client', 'tunnel', 'host', 'domain', 'rule', 'policy', 'webhook', 'session', 'apiKey', 'user'] as const),
  'addressList',
];

/** Makes rows for owners, viewers too, who cannot make their own. */
export class RowMaker {
  private readonly world: TunnelWorld;
  private readonly chain = makeCertificate({ subject: 'rows', names: ['*.rows.example.org'] });
  private made = 0;

  constructor(world: TunnelWorld) {
    this.world = world;
  }

  async rowsOf(owner: Owner): Promise<Rows> {
    const client = await this.makers.client(owner, 0);
    const rows = { owner: owner.id, client } as Rows;
    for (const kind of KINDS.filter((each) => each !== 'client')) rows[kind] = await this.makers[kind](owner, client);
    return rows;
  }

  /** Another one of that kind, and what it needs. */
  async rowOf(kind: keyof Rows, owner: Owner, others: Rows): Promise<Rows> {
    if (kind === 'owner') return others;
    return { ...others, [kind]: await this.makers[kind](owner, others.client) };
  }

  private readonly makers: Record<Kind, (owner: Owner, client: number) => Promise<number>> = {
    client: async ({ id: owner }) => (await this.post('/clients', { name: 'rows', owner_user_id: owner })).id,
    tunnel: async (_owner, client) =>
      (await this.post('/tunnels', { client_id: client, mode: 'secret', target_addr: 'a:1' })).id,
    host: async (_owner, client) => {
      const name = `h${++this.made}.rows.example.org`;
      const { id } = await this.post('/hosts', { client_id: client, host: name, target_addr: 'a:1' });
      await this.post(`/hosts/${id}/cert`, { certificate: this.chain.certificate, key: this.chain.key });
      return id;
    },
    domain: async ({ id: owner }) =>
      (await this.post('/domains', { name: `d${++this.made}.example.net`, user_id: owner })).id,
    rule: async (_owner, client) => {
      const about = { scope: 'client', resource_id: client };
      return (await this.post('/ip-rules', { ...about, type: 'deny', pattern: '192.0.2.1' })).id;
    },
    // Of nobody.
    addressList: async () =>
      (await this.post('/address-lists', { name: `l${++this.made}`, url: 'http://127.0.0.1:9/x', allow_private: true }))
        .id,
    policy: async (_owner, client) => {
      const about = { resource_type: 'client', resource_id: client };
      return (await this.post('/auth-policies', { ...about, type: 'password', password: 'for visitors' })).id;
    },
    webhook: async ({ id: owner }) => {
      const { id } = await this.post('/webhooks', { name: 'hook', url: 'https://hooks.example.org/x' });
      await this.world.rows('UPDATE tunnel_gateway_ops.webhooks SET owner_user_id = $2 WHERE id = $1', [id, owner]);
      return id;
    },
    session: async ({ name }) => {
      const call = await this.login(name);
      const [session] = (await call('GET', '/sessions?sort=-id&limit=1')).body.items;
      return session.id;
    },
    apiKey: async ({ name }) => {
      const call = await this.login(name);
      return (await call('POST', '/api-keys', { name: 'rows', current_password: PASSWORD })).body.id;
    },
    user: async () => (await this.post('/users', { username: `u${++this.made}`, password: 'a long password' })).id,
  };

  async login(username: string): Promise<Caller> {
    const anonymous = caller(this.world.gateway.url, {});
    const { body } = await anonymous('POST', '/auth/login', { username, password: PASSWORD });
    return caller(this.world.gateway.url, { authorization: `Bearer ${body.token}` });
  }

  private async post(path: string, body: object): Promise<AnyJson> {
    const answer = await this.world.admin('POST', path, body);
    if (answer.status > 201) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }
}
