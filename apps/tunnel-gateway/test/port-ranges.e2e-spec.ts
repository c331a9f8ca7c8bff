import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { reservePort, reservePorts, waitFor } from '@gatehouse/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TunnelWorld, type AnyJson, type Answer, type Caller } from './support/tunnel-world.js';

/** The file that people run: `npm run build` makes it. */
const AGENT = fileURLToPath(new URL('../../tunnel-agent/dist/gatehouse-agent.mjs', import.meta.url));
const COUNT = 5;
/** Ports that are the gateway's to give, in a row. */
const GIVEN = 19;
/** The same where nothing listens. */
const RANGE = { first: 41_300, last: 41_329 };
const quiet = (): void => undefined;

describe.each([
  ['one process', {}],
  ['workers', { TUNNEL_EDGE_WORKERS: '2' }],
])('a range of ports, the edge with %s', (_, env: Record<string, string>) => {
  let world: TunnelWorld;
  let client: AnyJson;
  /** The first of the target ports. */
  let target: number;
  /** The first of those that are the gateway's to give. */
  let given: number;

  beforeAll(async () => {
    given = await reservePorts(GIVEN);
    world = await TunnelWorld.start({ PORT_RANGE: `${given}-${given + GIVEN - 1}`, ...env });
    client = await world.client();
    target = await namedTargets(world);
    await startAgent(world, client.key);
  });
  afterAll(() => world.close());

  const make = async (body: object, call: Caller = world.admin): Promise<Answer> =>
    call('POST', '/tunnels', { client_id: client.id, mode: 'tcp', listen_ip: '127.0.0.1', port_count: COUNT, ...body });
  const change = (id: number, body: object, call: Caller = world.admin): Promise<Answer> =>
    call('PATCH', `/tunnels/${id}`, body);
  const targets = (from = target, count = COUNT): string => `127.0.0.1:${from}-${from + count - 1}`;
  const runs = (id: number): Promise<AnyJson> =>
    waitFor(async () => {
      const { body } = await world.admin('GET', `/tunnels/${id}`);
      return body.run_status === 1 && body;
    });
  const remove = async ({ id }: AnyJson): Promise<void> => {
    expect((await world.admin('DELETE', `/tunnels/${id}`)).status).toBe(204);
  };

  it.each(['tcp', 'udp'])('leads its first, middle and last port to the mapped ports, mode %s', async (mode) => {
    const listen_port = await reservePorts(COUNT);
    const made = await make({ mode, listen_port, target_addr: targets() });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ listen_port, port_count: COUNT, target_addr: targets() });
    await runs(made.body.id);
    for (const distance of [0, 2, COUNT - 1]) {
      const ask = mode === 'tcp' ? world.ask(listen_port + distance, '') : askOver(listen_port + distance);
      expect(await ask).toBe(`${target + distance}`);
    }
    await waitFor(async () => (await world.admin('GET', `/tunnels/${made.body.id}`)).body.export_flow >= 3 * 5);
    await remove(made.body);
  });

  it('leads all of its ports to a single target port', async () => {
    const listen_port = await reservePorts(COUNT);
    const { body } = await make({ listen_port, target_addr: `127.0.0.1:${target}` });
    await runs(body.id);
    for (const distance of [0, COUNT - 1]) expect(await world.ask(listen_port + distance, '')).toBe(`${target}`);
    await remove(body);
  });

  it('grows and shrinks under an open connection, and is found by any of its ports', async () => {
    const listen_port = await reservePorts(COUNT);
    const target_addr = `127.0.0.1:${await world.echo()}`;
    const { body } = await make({ listen_port, port_count: 2, target_addr });
    await runs(body.id);
    const [stays, leaves] = [await world.visit(listen_port), await world.visit(listen_port + 1)];
    expect((await change(body.id, { port_count: COUNT })).body).toMatchObject({ port_count: COUNT });
    await waitFor(async () => (await world.ask(listen_port + COUNT - 1, 'new')) === 'new');
    const found = await world.admin('GET', `/tunnels?listen_port=${listen_port + COUNT - 1}`);
    expect(found.body.items).toMatchObject([{ id: body.id }]);
    expect((await world.admin('GET', `/tunnels?q=${listen_port + 3}`)).body.items).toMatchObject([{ id: body.id }]);
    expect((await world.admin('GET', `/tunnels?listen_port=${listen_port + COUNT}`)).body.items).toEqual([]);
    expect((await change(body.id, { port_count: 1 })).body).toMatchObject({ listen_port, port_count: 1 });
    await waitFor(async () => (await world.ask(listen_port + 1, 'x')) === null);
    for (const visitor of [stays, leaves]) {
      visitor.write('still here');
      expect(String((await once(visitor, 'data'))[0])).toBe('still here');
    }
    const { body: checked } = await world.admin('POST', `/tunnels/${body.id}/check`);
    expect(checked.steps).toContainEqual(expect.objectContaining({ code: 'port_open', detail: `${listen_port}` }));
    await remove(body);
  });

  it('says in events and checks which ports are open', async () => {
    const listen_port = await reservePorts(COUNT);
    const { body } = await make({ listen_port, target_addr: targets() });
    await runs(body.id);
    const range = `${listen_port}-${listen_port + COUNT - 1}`;
    const { body: checked } = await world.admin('POST', `/tunnels/${body.id}/check`);
    expect(checked.steps).toContainEqual(expect.objectContaining({ code: 'port_open', detail: range }));
    expect(checked.steps).toContainEqual(expect.objectContaining({ code: 'target_answers' }));
    const [started] = await waitFor(async () => {
      const path = `/events?type=tunnel.started&resource_id=${body.id}&resource_type=tunnel`;
      const { items } = (await world.admin('GET', path)).body;
      return items.length > 0 && items;
    });
    expect(started).toMatchObject({
      message: `The tunnel is served on the ports ${listen_port} to ${listen_port + COUNT - 1}`,
      data: { port: listen_port, last_port: listen_port + COUNT - 1 },
    });
    await remove(body);
  });

  it('has the target of the first port or of a chosen one checked, and says which', async () => {
    const listen_port = await reservePorts(COUNT);
    const first = await reservePorts(COUNT);
    const open = createServer((socket) => socket.on('error', quiet).resume()).listen(first + 2, '127.0.0.1');
    await once(open, 'listening');
    const { body } = await make({ listen_port, target_addr: targets(first) });
    await runs(body.id);
    const check = (asked?: object): Promise<Answer> => world.admin('POST', `/tunnels/${body.id}/check`, asked);
    const refused = expect.objectContaining({ code: 'target_refused', state: 'failed' });
    for (const asked of [undefined, {}, { port: listen_port }, { port: listen_port + COUNT - 1 }]) {
      const { body: checked } = await check(asked);
      expect(checked).toMatchObject({ answers: false, port: asked?.port ?? listen_port });
      expect(checked.steps).toContainEqual(refused);
    }
    const { body: answers } = await check({ port: listen_port + 2 });
    expect(answers).toMatchObject({ answers: true, port: listen_port + 2 });
    for (const port of [listen_port - 1, listen_port + COUNT]) {
      const { status, body: problem } = await check({ port });
      const detail = `port: the tunnel has the ports ${listen_port} to ${listen_port + COUNT - 1}`;
      expect([status, problem.detail]).toEqual([422, detail]);
    }
    expect((await check({ port: 'x' })).status).toBe(422);
    // All ports lead to one target.
    await change(body.id, { target_addr: `127.0.0.1:${first + 2}` });
    await waitFor(async () => (await check({ port: listen_port })).body.answers);
    open.close();
    await remove(body);
  });

  it('is the only port of a check where it is the only one', async () => {
    const listen_port = await reservePort();
    const { body } = await make({ listen_port, port_count: 1, target_addr: `127.0.0.1:${target}` });
    await runs(body.id);
    const check = (port: number): Promise<Answer> => world.admin('POST', `/tunnels/${body.id}/check`, { port });
    expect((await check(listen_port)).body).toMatchObject({ answers: true, port: null });
    expect((await check(listen_port + 1)).body.detail).toBe(`port: the tunnel has port ${listen_port} only`);
    await change(body.id, { mode: 'secret' });
    expect((await check(listen_port)).body.detail).toBe('port: the tunnel has no port');
    await remove(body);
  });

  it('serves its other ports while one cannot be opened, and says which', async () => {
    const listen_port = await reservePorts(COUNT);
    const other = createServer(quiet).listen(listen_port + 1, '127.0.0.1');
    await once(other, 'listening');
    const { body } = await make({ listen_port, target_addr: targets() });
    const failed = await waitFor(async () => {
      const { body: now } = await world.admin('GET', `/tunnels/${body.id}`);
      return now.run_status === 3 && now;
    });
    expect(failed.error).toBe(`127.0.0.1:${listen_port + 1} is in use`);
    expect(await world.ask(listen_port + 2, '')).toBe(`${target + 2}`);
    other.close();
    await runs(body.id);
    expect(await world.ask(listen_port + 1, '')).toBe(`${target + 1}`);
    await remove(body);
  });

  it('conflicts with the ports of other tunnels, single ones and ranges', async () => {
    const listen_port = given;
    const { body } = await make({ listen_port: listen_port + 5, target_addr: targets(), status: 0 });
    const last = listen_port + 5 + COUNT - 1;
    const taken = async (from: number, count: number, more: object = {}): Promise<unknown> => {
      const target_addr = '127.0.0.1:80';
      const answer = await make({ listen_port: from, port_count: count, target_addr, status: 0, ...more });
      if (answer.status === 201) await remove(answer.body);
      return answer.status === 201 ? 'free' : [answer.body.code, answer.body.detail];
    };
    const inUse = (port: number): unknown => ['port_in_use', `listen_port: another tunnel has ${port}`];
    expect(await taken(listen_port + 5, 1)).toEqual(inUse(listen_port + 5));
    expect(await taken(last, 1)).toEqual(inUse(last));
    expect(await taken(listen_port, 6)).toEqual(inUse(listen_port + 5));
    expect(await taken(last, 2)).toEqual(inUse(last));
    expect(await taken(listen_port, 20)).toEqual(inUse(listen_port + 5));
    expect(await taken(listen_port, 5)).toBe('free');
    expect(await taken(last + 1, 3)).toBe('free');
    expect(await taken(listen_port, 20, { mode: 'udp' })).toBe('free');
    expect(await taken(listen_port, 20, { listen_ip: '127.0.0.2' })).toBe('free');
    // A tunnel is no conflict for itself.
    expect((await change(body.id, { listen_port: listen_port + 6 })).status).toBe(200);
    const neighbour = await make({ listen_port: listen_port + 20, port_count: 1, target_addr: targets(), status: 0 });
    expect(neighbour.status).toBe(422);
    const single = await make({ listen_port: listen_port + 20, port_count: 1, target_addr: '127.0.0.1:80', status: 0 });
    expect((await change(body.id, { port_count: 15, target_addr: '127.0.0.1:80' })).body).toMatchObject({
      code: 'port_in_use',
      detail: `listen_port: another tunnel has ${listen_port + 20}`,
    });
    await remove(single.body);
    await remove(body);
  });

  it('gets free ports in a row when it asks for any', async () => {
    // What is left of the gateway's range: three ports, five, and nine.
    const blocks = [given + 3, given + 9];
    const made = await Promise.all(
      blocks.map((listen_port) => make({ listen_port, port_count: 1, target_addr: '127.0.0.1:80', status: 0 })),
    );
    const any = { listen_port: 0, target_addr: '127.0.0.1:80', status: 0 };
    const none = await make({ ...any, port_count: 10 });
    expect(none.body).toMatchObject({
      code: 'port_in_use',
      detail: `listen_port: no 10 ports in a row from ${given} to ${given + GIVEN - 1} are free`,
    });
    const one = await make({ ...any, port_count: 9 });
    expect(one.body).toMatchObject({ listen_port: given + 10, port_count: 9 });
    const two = await make({ ...any, port_count: 5 });
    expect(two.body).toMatchObject({ listen_port: given + 4, port_count: 5 });
    for (const { body } of [...made, one, two]) await remove(body);
  });

  it('is refused where it cannot be, with the field', async () => {
    const listen_port = await reservePorts(COUNT);
    const refused = async (body: object): Promise<string> => {
      const answer = await make({ listen_port, target_addr: '127.0.0.1:80', ...body });
      expect(answer.status).toBe(422);
      return answer.body.detail;
    };
    expect(await refused({ mode: 'socks5', target_addr: '' })).toBe(
      'port_count: must be 1: only the modes tcp and udp have ranges of ports',
    );
    expect(await refused({ port_count: 1_001 })).toMatch(/^port_count/);
    expect(await refused({ port_count: 0 })).toMatch(/^port_count/);
    expect(await refused({ listen_port: 65_533 })).toBe(
      'port_count: the last port would be 65537, and ports end at 65535',
    );
    expect(await refused({ target_addr: '127.0.0.1:80-82' })).toBe(
      'target_addr: "127.0.0.1:80-82" has 3 ports and the tunnel has 5: make port_count the same',
    );
    expect(await refused({ target_addr: '127.0.0.1:82-80' })).toBe(
      'target_addr: "127.0.0.1:82-80": ranges go up, and end at 65535',
    );
    expect(await refused({ target_addr: '127.0.0.1:65533-65537' })).toBe(
      'target_addr: "127.0.0.1:65533-65537": ranges go up, and end at 65535',
    );
    expect(await refused({ target_addr: '127.0.0.1:80-84,127.0.0.1:80' })).toBe(
      'target_addr: must have a range of ports for each target, or for none',
    );
    const reserved = await make({ listen_port: 441, target_addr: '127.0.0.1:80' });
    expect(reserved.body).toMatchObject({ code: 'port_reserved', detail: 'listen_port: the gateway itself uses 443' });
  });
});

describe('claims of ports', () => {
  it('never overlap, whatever their order', async () => {
    const [first, last] = [41_400, 41_439];
    await using world = await TunnelWorld.start({ PORT_RANGE: `${first}-${last}` });
    const client = await world.client();
    const claim = fc.record({ from: fc.integer({ min: first, max: last }), count: fc.integer({ min: 1, max: 9 }) });
    const run = async (claims: { from: number; count: number }[]): Promise<void> => {
      const held = new Map<number, number>();
      for (const { from, count } of claims) {
        const wanted = Array.from({ length: count }, (_, distance) => from + distance);
        const conflict = wanted.find((port) => held.has(port));
        const { status, body } = await world.admin('POST', '/tunnels', {
          client_id: client.id,
          mode: 'tcp',
          listen_port: from,
          port_count: count,
          target_addr: 'a:80',
          status: 0,
        });
        const expected = conflict === undefined ? 201 : `listen_port: another tunnel has ${conflict}`;
        expect(status === 201 ? status : body.detail).toBe(expected);
        if (status === 201) for (const port of wanted) held.set(port, body.id);
      }
      for (const id of new Set(held.values())) await world.admin('DELETE', `/tunnels/${id}`);
    };
    await fc.assert(fc.asyncProperty(fc.array(claim, { minLength: 4, maxLength: 12 }), run), { numRuns: 12 });
  });
});

describe('a user', () => {
  let world: TunnelWorld;
  beforeAll(async () => {
    const { first, last } = RANGE;
    world = await TunnelWorld.start({ PORT_RANGE: `${first}-${last}`, TUNNEL_MAX_TUNNELS_PER_USER: '8' });
  });
  afterAll(() => world.close());

  it('gets ranges inside the ports of the gateway only, and each port counts as a tunnel', async () => {
    const { call } = await world.user('ada');
    const client = await world.client({}, call);
    const make = (listen_port: number, port_count: number): Promise<Answer> =>
      call('POST', '/tunnels', {
        client_id: client.id,
        mode: 'tcp',
        listen_port,
        port_count,
        target_addr: 'a:80',
        status: 0,
      });
    for (const first of [RANGE.first - 1, RANGE.last - 1]) {
      expect((await make(first, 3)).body, `${first}`).toMatchObject({
        code: 'forbidden',
        detail: `listen_port: only administrators can use ports outside ${RANGE.first} to ${RANGE.last}`,
      });
    }
    const made = await make(RANGE.first, 6);
    expect(made.status).toBe(201);
    expect((await make(RANGE.first + 10, 3)).body).toMatchObject({ code: 'quota_exceeded' });
    expect((await make(RANGE.first + 10, 1)).status).toBe(201);
    const change = (port_count: number): Promise<Answer> => call('PATCH', `/tunnels/${made.body.id}`, { port_count });
    expect((await change(8)).body).toMatchObject({ code: 'quota_exceeded' });
    expect((await change(7)).status).toBe(200);
    expect((await make(RANGE.first + 20, 1)).body).toMatchObject({ code: 'quota_exceeded' });
    expect((await change(2)).status).toBe(200);
    expect((await make(RANGE.first + 20, 5)).status).toBe(201);
  });
});

/** Targets on ports in a row, each of which says its own port over TCP and UDP. */
async function namedTargets(world: TunnelWorld): Promise<number> {
  const from = await reservePorts(COUNT);
  for (let port = from; port < from + COUNT; port++) {
    const server = createServer((socket) => socket.on('error', quiet).end(`${port}`)).listen(port, '127.0.0.1');
    const socket = createSocket('udp4').bind(port, '127.0.0.1');
    await Promise.all([once(server, 'listening'), once(socket, 'listening')]);
    socket.on('message', (_, to) => socket.send(`${port}`, to.port, to.address));
    world.onClose(() => {
      server.close();
      socket.close();
    });
  }
  return from;
}

/** The program that people run, connected. */
async function startAgent(world: TunnelWorld, key: string): Promise<void> {
  const server = `127.0.0.1:${world.edges.ports.agents}`;
  const child = spawn(process.execPath, [AGENT, '--server', server, '--log', 'text'], {
    env: { GATEHOUSE_AGENT_KEY: key, RUNTIME_DIRECTORY: world.gateway.home },
    stdio: 'pipe',
  });
  world.onClose(() => child.kill('SIGKILL'));
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (text += String(part)));
  await waitFor(() => text.includes('online'));
}

/** Asks until an answer comes: datagrams may be lost. */
async function askOver(port: number): Promise<string> {
  const socket = createSocket('udp4');
  let answer = '';
  socket.on('message', (payload) => (answer = String(payload)));
  await waitFor(() => {
    if (answer === '') socket.send('who?', port, '127.0.0.1');
    return answer !== '';
  });
  socket.close();
  return answer;
}
