import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { asnFile, countryFile, findPeer, geositeFile, reservePort, waitFor } from '@gatehouse/testing';
import { expect, it } from 'vitest';
import { startGateway } from './support/gateway.js';
import type { AnyJson, Gateway } from './support/gateway.js';
import { decisionsOfMihomo, openTunnel, startMarker } from './support/mihomo-decisions.js';
import type { Decision, Marker } from './support/mihomo-decisions.js';
import { startTableServer } from './support/name-server.js';
import { startProvider } from './support/provider.js';
import type { Provider } from './support/provider.js';
import { RandomProfile } from './support/random-profile.js';
import type { Destination, RuleList } from './support/random-profile.js';

/**
 * The same profile, once taken by the gateway and once read by mihomo. `ROUTING_DESTINATIONS=10000` asks about more
 * destinations, of ten profiles; `ROUTING_SEED` begins with another one.
 */
const DESTINATIONS = Number(process.env['ROUTING_DESTINATIONS'] ?? 400);
const FIRST_SEED = Number(process.env['ROUTING_SEED'] ?? 1);
const PER_PROFILE = Math.max(100, DESTINATIONS / 10);
const RULES = 220;
const run = promisify(execFile);

it(
  'a profile routes as mihomo routes with the same profile',
  { timeout: 60_000 + DESTINATIONS * 40 },
  async (context) => {
    const program = findPeer('mihomo') ?? context.skip('mihomo is not installed: npm run peers -- --go');
    await using gateway = await startGateway({ API_RATE_LIMIT: '1000000' });
    await using world = await World.start(program);
    const differences: string[] = [];
    const rules = new Set<string>();
    let asked = 0;
    for (let seed = FIRST_SEED; asked < DESTINATIONS; seed++) {
      const profile = new RandomProfile(seed, RULES);
      const destinations = profile.destinations(Math.min(PER_PROFILE, DESTINATIONS - asked));
      await using offered = await world.offer(profile);
      const theirs = await decisionsOfMihomo({ program, ...offered }, destinations);
      const id = await world.take(gateway, profile);
      const ours = await decisionsOfGateway(gateway, destinations);
      for (const [at, destination] of destinations.entries()) {
        const [mine, other] = [ours[at]!, theirs[at]!];
        if (!isSame(mine, other))
          differences.push(`seed ${seed}: ${shown(destination)}: ${way(mine)} here, ${way(other)} in mihomo`);
        rules.add(mine.rule);
      }
      asked += destinations.length;
      await gateway.call('DELETE', `/subscriptions/${id}`);
    }
    expect(differences.slice(0, 20)).toEqual([]);
    expect(asked).toBe(DESTINATIONS);
    expect(rules.size).toBeGreaterThan(80);
  },
);

it.for(['embedded', 'mihomo'])(
  'connections through a gateway with the kernel %s take the same ways',
  async (kernel, context) => {
    const program = findPeer('mihomo') ?? context.skip('mihomo is not installed: npm run peers -- --go');
    await using gateway = await startGateway({ PROXY_GATEWAY_MIHOMO: program }, { 'kernel.mode': kernel });
    await using world = await World.start(program);
    const profile = new RandomProfile(FIRST_SEED, RULES);
    await using offered = await world.offer(profile);
    const ports = new Map(profile.destinations(200).map((one) => [one.port, one]));
    const destinations = [...ports.values()].filter(({ network, port }) => network === 'tcp' && port > 10_000);
    const theirs = await decisionsOfMihomo({ program, ...offered }, destinations);
    await world.take(gateway, profile);
    const { asked } = world.marker;
    asked.clear();
    const differences: string[] = [];
    const refused: number[] = [];
    for (const [at, destination] of destinations.entries()) {
      const { end } = await openTunnel(gateway.proxyPort, destination);
      const { node } = theirs[at]!;
      if (node.startsWith('REJECT')) refused.push(destination.port);
      else {
        const user = await waitFor(() => asked.get(destination.port));
        if (user !== (node === '只有 TCP' ? 'CONNECT' : node))
          differences.push(`${shown(destination)}: ${user}, ${way(theirs[at]!)}`);
      }
      end();
    }
    expect(differences).toEqual([]);
    expect(refused.filter((port) => asked.has(port))).toEqual([]);
    expect(asked.size).toBeGreaterThan(100);
    expect(refused.length).toBeGreaterThan(0);
  },
);

/** What the gateway and mihomo fetch from, and the proxy that stands for all nodes. */
class World implements AsyncDisposable {
  private readonly served = new Map<string, Buffer | string>();

  private constructor(
    readonly program: string,
    readonly provider: Provider,
    readonly marker: Marker,
  ) {
    provider.reply = (request, response) => {
      const found = this.served.get(new URL(request.url ?? '', provider.url).pathname.slice(1));
      if (found === undefined) response.writeHead(404).end();
      else response.end(found);
    };
  }

  static async start(program: string): Promise<World> {
    return new World(program, await startProvider(), await startMarker());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.provider[Symbol.asyncDispose]();
    await this.marker[Symbol.asyncDispose]();
  }

  /** Serves a profile with its lists, and answers its questions for names. */
  async offer(profile: RandomProfile) {
    const names = await startTableServer((name) => profile.addressesOf(name));
    const port = await reservePort();
    const files = new URL('/', this.provider.url).href.slice(0, -1);
    const text = profile.text({ marker: this.marker.port, files, nameServer: names.address, port });
    const geo = {
      'Country.mmdb': countryFile(profile.countries),
      'ASN.mmdb': asnFile(profile.numbers, 'GeoLite2-ASN'),
      'GeoSite.dat': geositeFile(profile.sites),
    };
    this.served.set('profile', text);
    this.served.set('airport', profile.provided(this.marker.port));
    for (const list of profile.lists) this.served.set(list.name, await listFile(this.program, list));
    for (const [name, content] of Object.entries(geo)) this.served.set(name, content);
    return { text, port, files: geo, [Symbol.asyncDispose]: () => names[Symbol.asyncDispose]() };
  }

  /** Takes the profile whole, with the databases that belong to it. */
  async take(gateway: Gateway, profile: RandomProfile): Promise<number> {
    await takeGeo(gateway, this.provider);
    return take(gateway, this.provider, profile);
  }
}

function shown({ network, host, port, source }: Destination): string {
  return `${network} ${host} ${port} from ${source}`;
}

function way({ rule, target, node, error }: Decision): string {
  return `${rule} → ${target}[${node}]${error === null ? '' : ` (${error})`}`;
}

/** A node that is itself the target of a rule is its own chain. */
function isSame(mine: Decision, theirs: Decision): boolean {
  if (theirs.error !== null) return mine.target === theirs.target || mine.node === theirs.target;
  return mine.node === theirs.node && (mine.target === theirs.target || theirs.target === theirs.node);
}

async function listFile(program: string, { behavior, format, entries }: RuleList): Promise<Buffer> {
  const text = `${entries.join('\n')}\n`;
  if (format === 'yaml') return Buffer.from(`payload:\n${entries.map((entry) => `  - '${entry}'\n`).join('')}`);
  if (format === 'text') return Buffer.from(text);
  const folder = mkdtempSync(join(tmpdir(), 'mrs-'));
  try {
    const [source, target] = [join(folder, 'list.txt'), join(folder, 'list.mrs')];
    writeFileSync(source, text);
    await run(program, ['convert-ruleset', behavior, 'text', source, target]);
    return readFileSync(target);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function takeGeo(gateway: Gateway, provider: Provider): Promise<void> {
  const addressOf = (name: string): string => new URL(`/${name}`, provider.url).href;
  const settings = {
    'geo.allow_private': 'true',
    'geo.country_url': addressOf('Country.mmdb'),
    'geo.asn_url': addressOf('ASN.mmdb'),
    'geo.geosite_url': addressOf('GeoSite.dat'),
  };
  expect((await gateway.call('PUT', '/settings', settings)).status).toBe(200);
  const updated = await gateway.call('POST', '/system/geo/update', { force: true });
  expect(updated.body.failed).toEqual([]);
}

/** Takes the profile whole: its providers and lists as well. */
async function take(gateway: Gateway, provider: Provider, profile: RandomProfile): Promise<number> {
  const body = { name: '机场', url: new URL('/profile', provider.url).href, allow_private: true, bring_rules: true };
  const { id } = (await gateway.call('POST', '/subscriptions', body)).body;
  const refresh = (one: number) => gateway.call('POST', `/subscriptions/${one}/refresh?force=true`);
  expect(['updated', 'not_modified']).toContain((await refresh(id)).body.status);
  const { items } = (await gateway.call('GET', '/subscriptions')).body;
  for (const one of items.filter((each: AnyJson) => each.profile_id === id)) await refresh(one.id);
  await waitFor(async () => {
    const { items: sets } = (await gateway.call('GET', '/rule-sets')).body;
    return sets.length === profile.lists.length + 1 && sets.every((set: AnyJson) => set.entry_count > 0);
  });
  const rules = (await gateway.call('GET', '/rules?source=subscription')).body.items;
  expect(rules.filter(({ valid }: AnyJson) => !valid)).toEqual([]);
  expect((await gateway.call('POST', '/system/reload')).body.warnings).toEqual([]);
  return id;
}

async function decisionsOfGateway(gateway: Gateway, destinations: readonly Destination[]): Promise<Decision[]> {
  const decisions: Decision[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < destinations.length; at = next++) {
      const { network, host, port, source } = destinations[at]!;
      const url = `tcp://${host.includes(':') ? `[${host}]` : host}:${port}`;
      const { status, body } = await gateway.call('POST', '/rules/test', { url, network, source_ip: source });
      expect(status).toBe(200);
      const chain: string[] = body.chain;
      decisions[at] = { target: chain[0]!, node: chain.at(-1)!, rule: body.rule?.raw ?? '', error: null };
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return decisions;
}
