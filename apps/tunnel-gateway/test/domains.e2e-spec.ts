import { peerOrSkip, reservePort, TestNames } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { caller, TunnelWorld, type Answer, type Caller } from './support/tunnel-world.js';

interface Person {
  call: Caller;
  id: number;
  client: number;
}

let names: TestNames | undefined;
let world: TunnelWorld;
let ann: Person;
let bob: Person;

beforeAll(async () => {
  const program = peerOrSkip('pebble-challtestsrv');
  names = program === undefined ? undefined : await TestNames.start(program);
  const servers = names?.address ?? `127.0.0.1:${await reservePort()}`;
  world = await TunnelWorld.start({ TUNNEL_DNS_SERVERS: servers, API_RATE_LIMIT: '0' });
  ann = await person(world, 'ann');
  bob = await person(world, 'bob');
});
afterAll(async () => {
  await world.close();
  await names?.close();
});

function nameServer(context: TestContext): TestNames {
  return names ?? context.skip('pebble is not installed: npm run peers');
}

async function person(where: TunnelWorld, name: string): Promise<Person> {
  const { call, id } = await where.user(name);
  return { call, id, client: (await where.client({}, call)).id };
}

function host({ call, client }: Person, name: string, location = '/'): Promise<Answer> {
  return call('POST', '/hosts', { client_id: client, host: name, location, target_addr: 'a:1' });
}

const claim = ({ call }: Person, name: string): Promise<Answer> => call('POST', '/domains', { name });
const codeOf = async (answer: Promise<Answer>): Promise<unknown> => (await answer).body.code;

describe('names of hosts', () => {
  it('can be used only by their owner and by administrators', async () => {
    for (const name of [
      '*.com',
      '*.de',
      '*.co.uk',
      'com',
      '*.github.io',
      'localhost',
      'x.localhost',
      'free.example.org',
    ]) {
      expect([name, await codeOf(host(bob, name))]).toEqual([name, 'forbidden']);
    }
    const { body } = await host(bob, 'free.example.org');
    expect(body.detail).toContain('/api/v1/domains');
    expect((await world.admin('GET', `/hosts?client_id=${bob.client}`)).body.items).toEqual([]);
  });

  it('are proven by a TXT record, which is looked up on request', async (context) => {
    const dns = nameServer(context);
    const { status, body: claimed } = await claim(ann, 'Ann.Example.ORG');
    expect(status).toBe(201);
    expect(claimed).toMatchObject({ name: 'ann.example.org', status: 'pending', method: 'dns', user_id: ann.id });
    const { record } = claimed;
    expect(record).toMatchObject({ name: '_gatehouse-challenge.ann.example.org', type: 'TXT' });
    const verify = (): Promise<Answer> => ann.call('POST', `/domains/${claimed.id}/verify`);
    expect(await codeOf(host(ann, 'ann.example.org'))).toBe('forbidden');

    expect(await verify()).toMatchObject({ status: 409, body: { detail: expect.stringContaining('no TXT record') } });
    await dns.setTxt(record.name, 'gatehouse-verify=of-somebody-else');
    expect(await verify()).toMatchObject({ status: 409, body: { detail: expect.stringContaining(record.value) } });
    await dns.setTxt(record.name, record.value);
    expect((await verify()).body).toMatchObject({ status: 'verified', verified_at: expect.any(String) });

    for (const name of ['ann.example.org', 'deep.below.ann.example.org', '*.ann.example.org']) {
      expect([name, (await host(ann, name)).status]).toEqual([name, 201]);
    }
    for (const name of ['xann.example.org', 'example.org', '*.example.org']) {
      expect([name, await codeOf(host(ann, name))]).toEqual([name, 'forbidden']);
    }
    for (const name of ['ann.example.org', 'x.ann.example.org', '*.x.ann.example.org']) {
      expect([name, await codeOf(host(bob, name, '/login'))]).toEqual([name, 'host_conflict']);
    }
  });

  it('are proven only with the value of the user’s own claim', async (context) => {
    const dns = nameServer(context);
    const first = (await claim(ann, 'shared.example.com')).body;
    const second = (await claim(bob, 'shared.example.com')).body;
    expect(first.record.value).not.toBe(second.record.value);
    await dns.setTxt(first.record.name, first.record.value);
    expect((await bob.call('POST', `/domains/${second.id}/verify`)).status).toBe(409);
    expect((await bob.call('POST', `/domains/${first.id}/verify`)).status).toBe(404);
    expect((await ann.call('POST', `/domains/${first.id}/verify`)).status).toBe(200);
    // It belongs to ann now, whatever the DNS says of bob.
    await dns.setTxt(second.record.name, second.record.value);
    expect(await codeOf(bob.call('POST', `/domains/${second.id}/verify`))).toBe('host_conflict');
    expect(await codeOf(world.admin('POST', '/domains', { name: 'shared.example.com', user_id: bob.id }))).toBe(
      'host_conflict',
    );
    await world.admin('DELETE', `/domains/${first.id}`);
    expect((await bob.call('POST', `/domains/${second.id}/verify`)).status).toBe(200);
  });

  it('are assigned by administrators; the closest domain decides', async () => {
    await world.assign(ann, 'corp.example.net');
    await world.assign(bob, 'bob.corp.example.net', 'nas.lan');
    expect((await host(ann, '*.corp.example.net')).body.code).toBe('host_conflict');
    expect((await host(ann, 'www.corp.example.net')).status).toBe(201);
    expect((await host(ann, 'bob.corp.example.net')).body.code).toBe('host_conflict');
    expect((await host(bob, 'www.bob.corp.example.net')).status).toBe(201);
    expect((await host(bob, 'nas.lan')).status).toBe(201);
    expect(await codeOf(ann.call('POST', '/domains', { name: 'x.example.com', user_id: bob.id }))).toBe('forbidden');
  });

  it.each(['com', 'co.uk', 'github.io', 'localhost', 'a.localhost', '*.example.org', '10.0.0.1', 'lan', ''])(
    'cannot be %j, for any user',
    async (name) => {
      for (const call of [ann.call, world.admin]) {
        const { status, body } = await call('POST', '/domains', { name });
        expect([status, body.errors[0].field]).toEqual([422, 'name']);
      }
    },
  );

  it('outside public DNS cannot be proven', async () => {
    expect((await claim(ann, 'printer.lan')).status).toBe(422);
    expect((await claim(ann, 'twice.example.com')).status).toBe(201);
    expect(await codeOf(claim(ann, 'twice.example.com'))).toBe('conflict');
  });

  it('stay on existing hosts when the domain is taken away', async () => {
    const { body: domain } = await world.admin('POST', '/domains', { name: 'kept.example.net', user_id: ann.id });
    const { body: kept } = await host(ann, 'kept.example.net');
    expect((await ann.call('DELETE', `/domains/${domain.id}`)).status).toBe(204);
    expect((await ann.call('PATCH', `/hosts/${kept.id}`, { location: '/moved' })).status).toBe(200);
    expect((await host(ann, 'kept.example.net', '/more')).status).toBe(201);
    expect(await codeOf(host(ann, 'new.kept.example.net'))).toBe('forbidden');
    expect(await codeOf(ann.call('PATCH', `/hosts/${kept.id}`, { host: 'new.kept.example.net' }))).toBe('forbidden');
  });

  it('go to the user who takes over the clients of a deleted user', async () => {
    const eve = await person(world, 'eve');
    await world.assign(eve, 'eve.example.net');
    expect((await world.admin('DELETE', `/users/${eve.id}?transfer_to=${bob.id}`)).status).toBe(204);
    expect((await host(bob, 'www.eve.example.net')).status).toBe(201);
  });

  it('of administrators need no owner, also with API keys', async () => {
    const proof = { name: 'k', scopes: ['write'], current_password: 'correct horse battery' };
    const { key } = (await world.admin('POST', '/api-keys', proof)).body;
    const program = caller(world.gateway.url, { 'x-api-key': key });
    const client = await world.client();
    const body = { client_id: client.id, host: 'machines.example.net', target_addr: 'a:1' };
    expect((await program('POST', '/hosts', body)).status).toBe(201);
    expect((await world.admin('POST', '/hosts', { ...body, host: 'intranet' })).status).toBe(201);
  });
});

describe('a gateway that trusts its users', () => {
  it('gives a name to the first user who claims it, except public suffixes and names with an owner', async () => {
    await using own = await TunnelWorld.start({
      TUNNEL_HOST_NAMES: 'any',
      TUNNEL_DNS_SERVERS: `127.0.0.1:${await reservePort()}`,
    });
    const [ada, ben] = [await person(own, 'ada'), await person(own, 'ben')];
    await own.assign(ada, 'ada.example.org');
    expect((await host(ben, 'free.example.org')).status).toBe(201);
    expect((await host(ben, 'intranet')).status).toBe(201);
    for (const name of ['*.com', '*.co.uk', 'x.localhost']) expect(await codeOf(host(ben, name))).toBe('forbidden');
    expect(await codeOf(host(ben, 'x.ada.example.org'))).toBe('host_conflict');
    // An earlier wildcard of one user does not take a name that belongs to another.
    expect((await host(ben, '*.wide.example.org')).status).toBe(201);
    await own.assign(ada, 'mine.wide.example.org');
    expect((await host(ada, 'mine.wide.example.org')).status).toBe(201);
    // Nobody answers for the DNS there.
    const { body } = await claim(ben, 'ben.example.org');
    expect(await ben.call('POST', `/domains/${body.id}/verify`)).toMatchObject({ status: 503 });
  });
});
