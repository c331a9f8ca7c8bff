import { setTimeout as delay } from 'node:timers/promises';
import { noneOf, share, type Assault, type HostileAttack } from '../hostile-attack.js';
import { ODD_ANSWERS } from '../odd-answers.js';
import { becomes, converse, dial, listenTo, RawServer } from '../sockets.js';

/** Servers on the Internet to which people go, through the proxy, a proxy tunnel or as the target of a host. */
export const ORIGIN_ATTACKS: readonly HostileAttack[] = [
  {
    name: 'odd answers through the proxy',
    role: 'origin',
    quick: true,
    run: (assault) => throughProxy(assault, 'proxy'),
  },
  {
    name: 'odd answers through http_proxy',
    role: 'origin',
    quick: true,
    run: (one) => throughProxy(one, 'http_proxy'),
  },
  { name: 'odd answers through mix_proxy', role: 'origin', quick: true, run: (one) => throughProxy(one, 'mix_proxy') },
  { name: 'odd answers of the target of a host', role: 'target', quick: true, run: ofTarget },
  { name: 'kept connections that the origin closes', role: 'origin', quick: true, run: closeKept },
  { name: 'a target that speaks first', role: 'target', quick: true, run: speakFirst },
  { name: 'a callback server that answers 101', role: 'target', quick: true, run: trapCallbacks },
];

async function throughProxy(assault: Assault, entry: 'proxy' | 'http_proxy' | 'mix_proxy'): Promise<string> {
  const { ground, chance } = assault;
  const port = entry === 'proxy' ? ground.ports.proxy : ground.tunnel(entry).listen_port;
  const from = chance.stranger();
  const authority = `127.0.0.1:${ground.odd.port}`;
  return askForEach(assault, (at) =>
    converse({ port, from }, `GET http://${authority}/odd/${at} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`, ANSWERED),
  );
}

async function ofTarget(assault: Assault): Promise<string> {
  const { ground, chance } = assault;
  const place = { port: ground.ports.http, from: chance.stranger() };
  const host = ground.host('odd');
  return askForEach(assault, (at) => converse(place, `GET /odd/${at} HTTP/1.1\r\nHost: ${host}\r\n\r\n`, ANSWERED));
}

/** The first byte of an answer, or an end. */
const ANSWERED = { isEnough: (text: string): boolean => text.includes('\r\n\r\n'), withinMs: 25_000 };

async function askForEach(assault: Assault, ask: (at: number) => ReturnType<typeof converse>): Promise<string> {
  const findings: string[] = [];
  const rounds = share(assault, 3);
  for (let round = 0; round < rounds; round += 1) {
    const all = ODD_ANSWERS.map(async ({ name }, at) => {
      const { text, isOver } = await ask(at);
      if (!isOver && !text.includes('\r\n\r\n')) findings.push(`"${name}" leaves its visitor without an answer`);
    });
    await Promise.all(all);
  }
  noneOf([...new Set(findings)], `within ${ANSWERED.withinMs / 1_000} s`);
  return `${ODD_ANSWERS.length * rounds} odd answers`;
}

/** As nginx does with an idle connection, in the moment in which the next request is on its way or later. */
async function closeKept(assault: Assault): Promise<string> {
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
  const origin = await RawServer.start((socket) =>
    socket.once('data', () => {
      socket.write(answer);
      setTimeout(() => socket.end(), 200);
    }),
  );
  const findings: string[] = [];
  const { ground, chance } = assault;
  const authority = `127.0.0.1:${origin.port}`;
  const again = async (method: string, pauseMs: number): Promise<void> => {
    const client = dial({ port: ground.ports.proxy, from: chance.stranger() });
    const body = method === 'POST' ? 'Content-Length: 2\r\n\r\nhi' : '\r\n';
    for (const turn of ['first', 'second']) {
      client.write(`${method} http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\n${body}`);
      const { text } = await listenTo(client, (received) => received.endsWith('\r\n\r\nok'), 12_000);
      if (!text.startsWith('HTTP/1.1 200')) {
        findings.push(`the ${turn} ${method} got ${text === '' ? 'no answer' : text.slice(0, 12)}`);
        break;
      }
      await delay(pauseMs);
    }
    client.destroy();
  };
  const clients = Array.from({ length: share(assault, 10) }, () => [again('GET', 600), again('POST', 600)]);
  await Promise.all(clients.flat());
  origin.close();
  noneOf([...new Set(findings)], 'after the origin had closed its idle connection');
  return `${clients.length * 2} clients with a second request`;
}

/** As SSH and SMTP do. */
async function speakFirst(assault: Assault): Promise<string> {
  const { ground, chance } = assault;
  const findings: string[] = [];
  for (const banner of ['SSH-2.0-OpenSSH_9.9\r\n', '220 mail.example ESMTP\r\n']) {
    const target = await RawServer.start((socket) => void socket.write(banner));
    const name = `banner${chance.below(1e9)}`;
    const { host, id } = await ground.addHost(name, ground.attacker.client.id, {
      target_addr: `http://127.0.0.1:${target.port}`,
    });
    try {
      const visits = Array.from({ length: share(assault, 10) }, async () => {
        const place = { port: ground.ports.http, from: chance.stranger() };
        const { text, isOver } = await converse(place, `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`, {
          ...ANSWERED,
          withinMs: 4_000,
        });
        if (!isOver && text === '') findings.push('a visitor got no answer');
      });
      // Until the host is served it answers 404, from which a target learns nothing.
      await becomes(() => target.total > 0, 1_000);
      await Promise.all(visits);
      const after = target.total;
      await delay(1_000);
      if (target.total > visits.length * 10) findings.push(`${target.total} connections for ${visits.length} visits`);
      if (target.total > after + 5) findings.push('it goes on when the visitors have left');
    } finally {
      target.close();
      await ground.tunnelApi.call('DELETE', `/hosts/${id}`);
    }
  }
  noneOf([...new Set(findings)], 'a banner before the request');
  return 'SSH and SMTP banners to visitors of a host';
}

async function trapCallbacks(assault: Assault): Promise<string> {
  const { ground, chance } = assault;
  const count = share(assault, 300);
  const host = ground.host('trap');
  const answers = await Promise.all(
    Array.from({ length: count }, () =>
      converse({ port: ground.ports.http, from: chance.stranger() }, `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`, {
        ...ANSWERED,
        withinMs: 15_000,
      }),
    ),
  );
  const silent = answers.filter(({ text, isOver }) => text === '' && !isOver).length;
  noneOf(silent > 0 ? [`${silent} of ${count} visitors got no answer in 15 s`] : [], 'callback');
  return `${count} visitors of a host whose callback server upgrades`;
}
