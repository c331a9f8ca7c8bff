import { reservePort, reservePorts, waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bearerOf, caller, TunnelWorld, type AnyJson } from './support/tunnel-world.js';

let world: TunnelWorld;
beforeAll(async () => {
  world = await TunnelWorld.start();
});
afterAll(() => world.close());
beforeEach(() => world.rows('DELETE FROM tunnel_gateway.clients'));

const bring = async (format: string, files: Record<string, string>, more: object = {}): Promise<AnyJson> => {
  const list = Object.entries(files).map(([name, text]) => ({ name, text }));
  const { status, body } = await world.admin('POST', '/transfer/import', { format, files: list, ...more });
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
};
const list = async (path: string): Promise<AnyJson[]> => (await world.admin('GET', `${path}?limit=200`)).body.items;
const lineOf = (report: AnyJson, path: string): AnyJson => report.lines.find((line: AnyJson) => line.path === path);

const FRPS = `
bindPort = 7000
vhostHTTPPort = 80
subDomainHost = "apps.example.org"
auth.token = "a shared secret"
allowPorts = [{ start = 2000, end = 3000 }]
`;

const frpc = (ssh: number, games: number): string => `
serverAddr = "gw.example.org"
serverPort = 7000
user = "attic"
transport.poolCount = 5
start = ["ssh", "games", "wiki", "files", "way-out", "db", "talk", "shop"]

[[proxies]]
name = "ssh"
type = "tcp"
localIP = "127.0.0.1"
localPort = 22
remotePort = ${ssh}
transport.proxyProtocolVersion = "v2"
transport.useCompression = true
transport.bandwidthLimit = "1MB"

[[proxies]]
name = "games"
type = "udp"
localIP = "fd00::7"
localPort = 27015
remotePort = ${games}

[[proxies]]
name = "wiki"
type = "http"
localPort = 8080
customDomains = ["wiki.example.org"]
subdomain = "wiki"
locations = ["/", "/api"]
hostHeaderRewrite = "wiki.internal"
httpUser = "reader"
httpPassword = "open please"
requestHeaders.set.x-from-where = "frp"
healthCheck.type = "http"

[[proxies]]
name = "shop"
type = "https"
customDomains = ["shop.example.org"]
[proxies.plugin]
type = "https2http"
localAddr = "127.0.0.1:8081"
crtPath = "./server.crt"

[[proxies]]
name = "files"
type = "tcp"
remotePort = 0
[proxies.plugin]
type = "static_file"
localPath = "/srv/my files"
stripPrefix = "static"
httpUser = "ann"
httpPassword = "let me in"

[[proxies]]
name = "way-out"
type = "tcp"
[proxies.plugin]
type = "socks5"

[[proxies]]
name = "db"
type = "stcp"
secretKey = "abc"
localPort = 5432

[[proxies]]
name = "talk"
type = "sudp"
localPort = 53

[[proxies]]
name = "asleep"
type = "xtcp"
localPort = 5900

[[visitors]]
name = "elsewhere"
type = "stcp"
serverName = "other"
bindPort = 9000
`;

describe('configurations of frp', () => {
  it('are imported with a report of every line', async () => {
    const [ssh, games] = [await reservePort(), await reservePort()];
    const report = await bring('frp', { 'frps.toml': FRPS, 'frpc.toml': frpc(ssh, games) });
    expect(report).toMatchObject({ applied: true, dry_run: false, refused: 0, lines_left_out: 0 });
    const [client] = await list('/clients');
    expect(client.name).toBe('attic');
    const tunnels = Object.fromEntries((await list('/tunnels')).map((tunnel) => [tunnel.name, tunnel]));
    expect(tunnels['attic.ssh']).toMatchObject({
      mode: 'tcp',
      listen_port: ssh,
      target_addr: '127.0.0.1:22',
      proxy_protocol: 2,
      status: 1,
    });
    expect(tunnels['attic.games']).toMatchObject({ mode: 'udp', listen_port: games, target_addr: '[fd00::7]:27015' });
    expect(tunnels['attic.files']).toMatchObject({
      mode: 'file',
      target_addr: 'file:///srv/my%20files?ro=1&strip=/static',
    });
    expect(tunnels['attic.files'].listen_port).toBeGreaterThanOrEqual(20_000);
    expect(tunnels['attic.way-out']).toMatchObject({ mode: 'socks5', target_addr: '' });
    expect(tunnels['attic.db']).toMatchObject({ mode: 'secret', status: 1 });
    expect(tunnels['attic.asleep']).toMatchObject({ mode: 'p2p', status: 0 });
    expect(Object.keys(tunnels)).not.toContain('attic.talk');
    const hosts = await list('/hosts');
    expect(hosts.map(({ host, location }) => `${host}${location}`).toSorted()).toEqual([
      'shop.example.org/',
      'wiki.apps.example.org/',
      'wiki.apps.example.org/api',
      'wiki.example.org/',
      'wiki.example.org/api',
    ]);
    expect(hosts.find(({ host }) => host === 'wiki.example.org')).toMatchObject({
      scheme: 'http',
      target_addr: 'http://127.0.0.1:8080',
      rewrite_host: 'wiki.internal',
      request_headers: { 'x-from-where': 'frp' },
    });
    expect(hosts.find(({ host }) => host === 'shop.example.org')).toMatchObject({
      scheme: 'https',
      target_addr: 'http://127.0.0.1:8081',
      auto_https: 1,
    });
    const policies = await list('/auth-policies');
    expect(policies.filter(({ type }) => type === 'basic')).toHaveLength(4);
    // Files have a raw port, where a page asks for the password.
    const ofFiles = policies.filter(
      ({ resource_id: id, resource_type: kind }) => kind === 'tunnel' && id === tunnels['attic.files'].id,
    );
    expect(ofFiles).toMatchObject([{ type: 'password', enabled: 1 }]);
    // Each line is reported once.
    expect(lineOf(report, 'proxies[0].remotePort')).toMatchObject({
      outcome: 'taken',
      message: 'listen_port of the tunnel',
    });
    expect(lineOf(report, 'proxies[0].transport.bandwidthLimit')).toMatchObject({ outcome: 'taken' });
    expect(lineOf(report, 'proxies[2].healthCheck.type')).toMatchObject({ outcome: 'no_counterpart' });
    expect(lineOf(report, 'proxies[7].type').message).toContain('no datagrams');
    expect(lineOf(report, 'visitors[0].serverName').outcome).toBe('no_counterpart');
    expect(lineOf(report, 'auth.token').outcome).toBe('no_counterpart');
    expect(JSON.stringify(report)).not.toMatch(/a shared secret|open please|let me in/);
  });

  it('bring keys that agents and visitors can use', async () => {
    const target = await world.echo();
    const port = await reservePort();
    const report = await bring('frp', {
      'home.toml': `[[proxies]]\nname = "echo"\ntype = "tcp"\nlocalPort = ${target}\nremotePort = ${port}`,
    });
    const client = report.resources.find(({ kind }: AnyJson) => kind === 'client');
    expect(client).toMatchObject({ name: 'home', command: expect.stringContaining(client.key) });
    await world.online(client.key);
    expect(await waitFor(async () => world.ask(port, 'hello'))).toBe('hello');
  });

  it('change nothing in a dry run', async () => {
    const report = await bring(
      'frp',
      { 'frps.toml': FRPS, 'frpc.toml': frpc(await reservePort(), await reservePort()) },
      { dry_run: true },
    );
    expect(report).toMatchObject({ applied: false, dry_run: true, refused: 0 });
    expect(report.taken).toBeGreaterThan(30);
    expect(report.resources.every(({ id, key }: AnyJson) => id === null && key === null)).toBe(true);
    expect([await list('/clients'), await list('/tunnels'), await list('/hosts')]).toEqual([[], [], []]);
  });

  it('are reported in Chinese to Chinese readers', async () => {
    const authorization = `Bearer ${await bearerOf(world.gateway, 'admin')}`;
    const headers = { authorization, 'accept-language': 'zh-CN' };
    const files = [
      { name: 'frps.toml', text: FRPS },
      { name: 'frpc.toml', text: frpc(await reservePort(), await reservePort()) },
    ];
    const { body } = await caller(world.gateway.url, headers)('POST', '/transfer/import', {
      format: 'frp',
      files,
      dry_run: true,
    });
    // Names of fields stay as they are.
    const english = body.lines.filter(({ message }: AnyJson) => !/\p{Script=Han}/u.test(message));
    expect(english.map(({ message }: AnyJson) => message).filter((text: string) => / /.test(text))).toEqual([]);
    expect(body.lines.map(({ message }: AnyJson) => message)).toContain('请设置 PORT_RANGE；管理员也可以使用其他端口');
  });

  it('are imported completely or not at all', async () => {
    const port = await reservePort();
    const proxy = (name: string, more: string): string => `[[proxies]]\nname = "${name}"\n${more}\n`;
    const report = await bring('frp', {
      'frpc.toml': [
        proxy('first', `type = "tcp"\nlocalPort = 1\nremotePort = ${port}`),
        proxy('same port', `type = "tcp"\nlocalPort = 2\nremotePort = ${port}`),
        proxy('reserved', 'type = "tcp"\nlocalPort = 2\nremotePort = 443'),
        proxy('bad type', 'type = "quic"'),
        proxy('wrong', 'type = "tcp"\nlocalPort = "22"\nremotePort = 1.5'),
        proxy('bad name', 'type = "http"\nlocalPort = 80\ncustomDomains = ["a b"]'),
        proxy(
          'bad header',
          'type = "http"\nlocalPort = 80\ncustomDomains = ["h.example.org"]\nrequestHeaders.set.Host = "x"',
        ),
      ].join('\n'),
    });
    expect(report).toMatchObject({ applied: false, dry_run: false });
    const refused = report.lines.filter(({ outcome }: AnyJson) => outcome === 'refused');
    expect(refused.map(({ path }: AnyJson) => path)).toEqual(
      expect.arrayContaining([
        'proxies[1]',
        'proxies[2]',
        'proxies[3].type',
        'proxies[4].localPort',
        'proxies[4].remotePort',
        'proxies[5]',
        'proxies[6]',
      ]),
    );
    expect([await list('/clients'), await list('/tunnels')]).toEqual([[], []]);
  });

  it('cannot block the gateway with invalid content', async () => {
    const before = performance.now();
    const files = { 'frpc.toml': '\n'.repeat(400_000) };
    expect(await bring('frp', files, { dry_run: true })).toMatchObject({ refused: 0 });
    expect(performance.now() - before).toBeLessThan(5_000);
    const rules = Array.from({ length: 5_001 }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
    const clients = [{ Id: 1, VerifyKey: 'abc', BlackIpList: rules }];
    const { status } = await world.admin('POST', '/transfer/import', {
      format: 'nps',
      files: [{ name: 'clients.json', text: JSON.stringify(clients) }],
    });
    expect(status).toBe(422);
  });

  it('cannot expand to more than their size', async () => {
    const many = (prefix: string): string =>
      JSON.stringify(Array.from({ length: 30_000 }, (_, i) => `${prefix}${i}.example.org`));
    const hosts = `[[proxies]]\nname = "x"\ntype = "http"\nlocalPort = 1\ncustomDomains = ${many('')}\nlocations = ${many('/')}`;
    const refused = await bring('frp', { 'frpc.toml': hosts }, { dry_run: true });
    expect(lineOf(refused, 'proxies[0].locations').outcome).toBe('refused');
    const strip = `${'/'.repeat(100_000)}a\\nb`;
    const plugin = `[proxies.plugin]\ntype = "static_file"\nlocalPath = "/srv"\nstripPrefix = "${strip}"`;
    const before = performance.now();
    const files = { 'frpc.toml': `[[proxies]]\nname = "x"\ntype = "tcp"\nremotePort = 0\n${plugin}` };
    await bring('frp', files, { dry_run: true });
    expect(performance.now() - before).toBeLessThan(5_000);
    const inner = Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [i, 1]));
    const nested = JSON.stringify({ Id: 1, VerifyKey: 'abc', Unknown: { ['n'.repeat(500_000)]: inner } });
    const report = await bring('nps', { 'clients.json': nested }, { dry_run: true });
    expect(JSON.stringify(report).length).toBeLessThan(1_000_000);
  });

  it('with ranges of ports become one tunnel for each range', async () => {
    const first = await reservePorts(9);
    const text = `
serverAddr = "gw.example.org"
{{- range $_, $v := parseNumberRangePair "7000-7003,8000" "${first}-${first + 3},${first + 4}" }}
[[proxies]]
name = "game-{{ $v.First }}"
type = "tcp"
localPort = {{ $v.First }}
remotePort = {{ $v.Second }}
{{- end }}

[[proxies]]
name = "voice"
type = "udp"
localIP = "fd00::7"
localPort = "9000-9002"
remotePort = "${first + 5}-${first + 7}"

[[proxies]]
name = "any"
type = "tcp"
localPort = "9100-9104"
`;
    expect(await bring('frp', { 'frpc.toml': text })).toMatchObject({ applied: true });
    const tunnels = Object.fromEntries((await list('/tunnels')).map((tunnel) => [tunnel.name, tunnel]));
    expect(tunnels['game-7000-7003']).toMatchObject({
      mode: 'tcp',
      listen_port: first,
      port_count: 4,
      target_addr: '127.0.0.1:7000-7003',
    });
    expect(tunnels['game-8000']).toMatchObject({
      listen_port: first + 4,
      port_count: 1,
      target_addr: '127.0.0.1:8000',
    });
    expect(tunnels['voice']).toMatchObject({
      mode: 'udp',
      listen_port: first + 5,
      port_count: 3,
      target_addr: '[fd00::7]:9000-9002',
    });
    expect(tunnels['any']).toMatchObject({ port_count: 5, target_addr: '127.0.0.1:9100-9104' });
    expect(tunnels['any'].listen_port).toBeGreaterThanOrEqual(20_000);
  });

  it('of nps with a range become one tunnel', async () => {
    const first = await reservePorts(3);
    const task = (more: object): object => ({ Mode: 'tcp', Client: { Id: 1 }, Status: true, ...more });
    const files = {
      'clients.json': JSON.stringify([{ Id: 1, VerifyKey: 'abc', Remark: 'home', Status: true }]),
      'tasks.json': JSON.stringify([
        task({ Remark: 'range', Ports: `${first}-${first + 2}`, Target: { TargetStr: '9001-9003' } }),
        task({ Remark: 'one', Port: 0, Ports: '9001,9003', Target: { TargetStr: '127.0.0.1:80' } }),
      ]),
    };
    const report = await bring('nps', files);
    const tunnels = Object.fromEntries((await list('/tunnels')).map((tunnel) => [tunnel.name, tunnel]));
    expect(tunnels['range']).toMatchObject({
      listen_port: first,
      port_count: 3,
      target_addr: '127.0.0.1:9001-9003',
    });
    expect(tunnels['one']).toMatchObject({ port_count: 1 });
    expect(lineOf(report, '[1].Ports')).toMatchObject({ outcome: 'no_counterpart' });
  });

  it('can be imported into an existing client', async () => {
    const client = await world.client();
    const files = { 'frpc.toml': '[[proxies]]\nname = "x"\ntype = "stcp"\nlocalPort = 1' };
    await bring('frp', files, { client_id: client.id });
    expect(await list('/clients')).toHaveLength(1);
    expect(await list('/tunnels')).toMatchObject([{ client_id: client.id, name: 'x' }]);
    await expect(bring('frp', files, { client_id: 999_999 })).rejects.toThrow('there is no client 999999');
  });

  it.each([
    ['templates', 'a = {{ .Envs.X }}', 'templates'],
    ['loops without an end', `{{- range $_, $v := parseNumberRangePair "1-2" "1-2" }}`.repeat(20_000), 'templates'],
    ['loops over no pairs', '{{- range $_, $v := parseNumberRangePair "1-2" "1-3" }}{{- end }}', 'templates'],
    [
      'loops that fill the memory',
      `{{- range $_, $v := parseNumberRangePair "${'1,'.repeat(900)}1" "${'1,'.repeat(900)}1" }}${' '.repeat(100_000)}{{- end }}`,
      'templates',
    ],
    ['the old format', '[common]\nserver_addr = x', 'INI'],
    ['what is no TOML', 'a = = 1', 'line 1'],
    ['very deep tables', `a = ${'['.repeat(100_000)}`, 'nested'],
    ['very long keys', `${'a.'.repeat(100_000)}b = 1`, null],
    ['tables in place of texts', '[[proxies]]\nname = {a = 1}\ntype = []', 'must be text'],
    ['texts in place of tables', 'proxies = "x"\ntransport = 3', 'must be a list of tables'],
    [
      'names of prototypes',
      '[[proxies]]\n__proto__ = 1\nconstructor = 2\nname = "p"\ntype = "constructor"',
      'must be tcp',
    ],
  ])('with %s do no harm', async (_what, text, reason) => {
    const started = performance.now();
    const report = await bring('frp', { 'frpc.toml': text }, { dry_run: true });
    if (reason !== null) expect(JSON.stringify(report.lines)).toContain(reason);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it('have a size limit', async () => {
    const files = [{ name: 'x.toml', text: 'x'.repeat(2_000_001) }];
    expect((await world.admin('POST', '/transfer/import', { format: 'frp', files })).status).toBe(422);
    const many = [{ name: 'x.toml', text: '[[proxies]]\ntype = "udp"\nlocalPort = 1\n'.repeat(5_001) }];
    expect((await world.admin('POST', '/transfer/import', { format: 'frp', files: many })).status).toBe(422);
    const huge = Array.from({ length: 6 }, (_, i) => ({ name: `${i}`, text: ' '.repeat(1_900_000) }));
    expect((await world.admin('POST', '/transfer/import', { format: 'frp', files: huge })).status).toBe(413);
  });

  it('can be imported by administrators only', async () => {
    const { call } = await world.user('ann');
    expect((await call('POST', '/transfer/import', { format: 'frp', files: [{ name: 'x', text: '' }] })).status).toBe(
      403,
    );
    expect((await call('GET', '/transfer/export')).status).toBe(403);
    expect((await call('POST', '/transfer/restore', { archive: { format: 'x' } })).status).toBe(403);
  });
});

const CLIENT = {
  Cnf: { U: 'reader', P: 'secret', Compress: true, Crypt: false },
  Id: 2,
  VerifyKey: 'kept-to-itself',
  Remark: 'attic',
  Status: true,
  IsConnect: true,
  RateLimit: 100,
  Flow: { ExportFlow: 7, InletFlow: 0, FlowLimit: 5, TimeLimit: '2099-01-01T00:00:00Z' },
  MaxConn: 12,
  WebUserName: 'attic',
  WebPassword: 'web secret',
  BlackIpList: ['192.0.2.1', '10.*', '', '198.51.100.0/24'],
};
const flow = { ExportFlow: 0, InletFlow: 0, FlowLimit: 0, TimeLimit: '0001-01-01T00:00:00Z' };

describe('configurations of nps', () => {
  it('are imported in the format that nps writes', async () => {
    const [ssh, proxy] = [await reservePort(), await reservePort()];
    const base = { Status: true, RunStatus: true, Client: { Id: 2 }, Flow: flow, ServerIp: '' };
    const target = (text: string): object => ({ TargetStr: text, TargetArr: null, LocalProxy: false });
    const tasks = [
      {
        ...base,
        Id: 1,
        Port: ssh,
        Mode: 'tcp',
        Remark: 'ssh',
        Target: { ...target('10.0.0.1:22\n10.0.0.2:22'), ProxyProtocol: 1 },
      },
      { ...base, Id: 2, Port: proxy, Mode: 'mixProxy', HttpProxy: true, Socks5Proxy: true, Target: target('') },
      { ...base, Id: 3, Port: 0, Mode: 'secret', Password: 'abc', Target: target('22'), Status: false },
      {
        ...base,
        Id: 4,
        Port: 0,
        Mode: 'file',
        LocalPath: '/srv',
        StripPre: '/web',
        MultiAccount: { AccountMap: { eve: 'x' } },
      },
    ];
    const host = {
      Id: 1,
      Host: 'wiki.example.org',
      HeaderChange: 'X-From: nps\nX-Other: 1\n',
      HostChange: 'wiki.internal',
      Location: '/api',
      Scheme: 'all',
      CertFilePath: '/etc/cert.pem',
      AutoHttps: true,
      TargetIsHttps: true,
      Flow: flow,
      Client: { Id: 2 },
      Target: target('127.0.0.1:8443'),
    };
    const seq = (all: object[]): string => all.map((each) => `${JSON.stringify(each)}\n*#*`).join('');
    const report = await bring('nps', {
      'conf/clients.json': seq([CLIENT]),
      'conf/tasks.json': seq(tasks),
      'conf/hosts.json': seq([host]),
    });
    expect(report).toMatchObject({ applied: true, refused: 0 });
    const [client] = await list('/clients');
    expect(client).toMatchObject({
      name: 'attic',
      rate_limit: 100,
      max_conn: 12,
      expire_at: '2099-01-01T00:00:00.000Z',
    });
    expect((await list('/ip-rules')).map(({ pattern, pattern_kind: kind }) => `${kind} ${pattern}`)).toEqual([
      'exact 192.0.2.1',
      'wildcard 10.*',
      'cidr 198.51.100.0/24',
    ]);
    expect(await list('/tunnels')).toMatchObject([
      { name: 'ssh', mode: 'tcp', listen_port: ssh, target_addr: '10.0.0.1:22,10.0.0.2:22', proxy_protocol: 1 },
      { mode: 'mix_proxy', listen_port: proxy },
      { mode: 'secret', target_addr: '127.0.0.1:22', status: 0 },
      { mode: 'file', target_addr: 'file:///srv?ro=1&strip=/web' },
    ]);
    expect(await list('/hosts')).toMatchObject([
      {
        host: 'wiki.example.org',
        location: '/api',
        target_addr: 'https://127.0.0.1:8443?insecure=1',
        rewrite_host: 'wiki.internal',
        request_headers: { 'X-From': 'nps', 'X-Other': '1' },
        auto_https: 1,
      },
    ]);
    const basics = (await list('/auth-policies')).filter(({ type }) => type === 'basic');
    expect(basics.map(({ resource_type: kind }) => String(kind)).toSorted()).toEqual(['host', 'tunnel']);
    expect(lineOf(report, '[0].Flow.FlowLimit')).toMatchObject({ file: 'conf/clients.json', outcome: 'taken' });
    expect(lineOf(report, '[0].VerifyKey').message).toContain('new key');
    expect(lineOf(report, '[2].Password').message).toContain('new key');
    expect(JSON.stringify(report)).not.toMatch(/kept-to-itself|web secret/);
  });

  it('are also accepted as one object, and refused if they have no owner', async () => {
    const task = { Id: 1, Mode: 'p2p', Target: { TargetStr: '127.0.0.1:1' }, Client: { Id: 2 } };
    const all = {
      clients: [CLIENT],
      tasks: [task, { ...task, Client: { Id: 9 } }, { ...task, Mode: 'tcpTrans' }],
      hosts: [],
    };
    const report = await bring('nps', { 'nps.json': JSON.stringify(all) });
    expect(report).toMatchObject({ applied: false, refused: 2 });
    expect(lineOf(report, 'tasks[1].Client').message).toContain('no client with the Id 9');
    expect(lineOf(report, 'tasks[2].Mode').outcome).toBe('refused');
    const good = await bring('nps', { 'nps.json': JSON.stringify({ ...all, tasks: [task] }) });
    expect(good.resources).toMatchObject([{ kind: 'client' }, { kind: 'tunnel', key: expect.any(String) }]);
  });

  it.each([
    ['what is no JSON', '{"VerifyKey":'],
    ['deep lists', '['.repeat(200_000)],
    ['other things', '[1, null, "x", {"a": 1}, []]'],
    ['wrong types', JSON.stringify([{ ...CLIENT, Id: 'x', RateLimit: '1', Flow: 3, Cnf: [], BlackIpList: {} }])],
  ])('with %s do no harm', async (_what, text) => {
    const report = await bring('nps', { 'clients.json': text });
    expect(report.applied).toBe(false);
    expect(report.refused).toBeGreaterThan(0);
    expect(await list('/clients')).toEqual([]);
  });
});
