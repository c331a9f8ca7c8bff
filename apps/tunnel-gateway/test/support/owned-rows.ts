import { makeCertificate } from './certificates.js';
import { caller, TunnelWorld, type AnyJson, type Caller } from './tunnel-world.js';

export const PASSWORD = 'correct horse battery';

export interface Owner {
  id: number;
  name: string;
}

/** What somebody owns, one row of each kind. */
export interface Rows {
  owner: number;
  user: number;
  client: number;
  tunnel: number;
  host: number;
  rule: number;
  policy: number;
  webhook: number;
  session: number;
  domain: number;
  apiKey: number;
}

const ACCOUNT: ReadonlySet<keyof Rows> = new Set<keyof Rows>(['user', 'session', 'apiKey']);

/** Makes rows for owners, viewers too, who cannot make their own. */
export class RowMaker {
  private readonly world: TunnelWorld;
  private readonly chain = makeCertificate({ subject: 'rows', names: ['*.rows.example.org'] });
  private made = 0;

  constructor(world: TunnelWorld) {
    this.world = world;
  }

  async rowsOf(owner: Owner): Promise<Rows> {
    return { ...(await this.resources(owner)), ...(await this.account(owner)) };
  }

  /** Just of one kind, and what that needs: hashes of passwords take their time. */
  async rowOf(kind: keyof Rows, owner: Owner, others: Rows): Promise<Rows> {
    const made = ACCOUNT.has(kind) ? await this.account(owner) : await this.resources(owner);
    return { ...others, ...made };
  }

  private async resources({ id: owner }: Owner): Promise<Omit<Rows, 'session' | 'apiKey' | 'user'>> {
    const count = ++this.made;
    const { id: client } = await this.post('/clients', { name: 'rows', owner_user_id: owner });
    const about = { scope: 'client', resource_id: client };
    const { id: tunnel } = await this.post('/tunnels', { client_id: client, mode: 'secret', target_addr: 'a:1' });
    const { id: host } = await this.post('/hosts', {
      client_id: client,
      host: `h${count}.rows.example.org`,
      target_addr: 'a:1',
    });
    await this.post(`/hosts/${host}/cert`, { certificate: this.chain.certificate, key: this.chain.key });
    const { id: domain } = await this.post('/domains', { name: `d${count}.example.net`, user_id: owner });
    const { id: rule } = await this.post('/ip-rules', { ...about, type: 'deny', pattern: '192.0.2.1' });
    const { id: policy } = await this.post('/auth-policies', {
      resource_type: 'client',
      resource_id: client,
      type: 'password',
      password: 'for visitors',
    });
    const { id: webhook } = await this.post('/webhooks', { name: 'hook', url: 'https://hooks.example.org/x' });
    await this.world.rows('UPDATE tunnel_gateway_ops.webhooks SET owner_user_id = $2 WHERE id = $1', [webhook, owner]);
    return { owner, client, tunnel, host, domain, rule, policy, webhook };
  }

  private async account({ name }: Owner): Promise<Pick<Rows, 'session' | 'apiKey' | 'user'>> {
    const call = await this.login(name);
    const [session] = (await call('GET', '/sessions?sort=-id&limit=1')).body.items;
    const key = await call('POST', '/api-keys', { name: 'rows', current_password: PASSWORD });
    const user = await this.post('/users', { username: `u${++this.made}`, password: 'a long password' });
    return { user: user.id, session: session.id, apiKey: key.body.id };
  }

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
