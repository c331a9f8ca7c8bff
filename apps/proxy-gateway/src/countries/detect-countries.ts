import { isIP } from 'node:net';
import type { CountryRebuildResult } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import { ProbeTargets } from '../measuring/probe-targets.js';
import { CountryDatabase } from '../nodes/country-database.js';
import { decideCountry, serverName } from './country-facts.js';
import type { DecidedCountry, ExitFinding, PlacedNode } from './country-facts.js';
import { CountryStore } from './country.store.js';
import type { CountryChange } from './country.store.js';
import { ExitProbe } from './exit-probe.js';
import { resolveServers } from './resolve-servers.js';

const BATCH = 500;

export type CountryTally = Omit<CountryRebuildResult, 'duration_ms' | 'job_id'>;

/** The progress of a detection. */
export interface CountryProgress {
  /** Nodes whose exit address is looked up. */
  to_ask: number;
  asked: number;
  [key: string]: number;
}

/** Detects the country of each node from all the facts known about it. */
@Injectable()
export class DetectCountries {
  constructor(
    private readonly store: CountryStore,
    private readonly targets: ProbeTargets,
    private readonly exits: ExitProbe,
    private readonly countries: CountryDatabase,
  ) {}

  /** Rejects with the signal's reason, and then changes nothing. */
  async run(
    nodeIds: readonly number[] | undefined,
    signal: AbortSignal,
    progress: (now: CountryProgress) => void,
  ): Promise<CountryTally> {
    const nodes = await this.store.nodes(nodeIds);
    const exits = await this.askExits(nodeIds, signal, progress);
    const exitOf = (node: PlacedNode): string | null => exits.get(node.id)?.country ?? node.exitCountry;
    const unresolved = nodes.filter((node) => node.countrySource !== 'manual' && exitOf(node) === null);
    const addresses = await resolveServers(
      unresolved.flatMap((node) => serverName(node) ?? []),
      signal,
    );
    const changes = nodes.map((node) => {
      const serverIp = isIP(node.server) === 0 ? (addresses.get(node.server) ?? null) : node.server;
      const decided = decideCountry(node, exitOf(node), serverIp, this.countries.lookup);
      return { id: node.id, exit: exits.get(node.id), decided };
    });
    await this.write(nodes, changes);
    return tally(nodes, changes);
  }

  private async askExits(
    nodeIds: readonly number[] | undefined,
    signal: AbortSignal,
    progress: (now: CountryProgress) => void,
  ): Promise<Map<number, ExitFinding | null>> {
    const { targets } = await this.targets.all(nodeIds);
    // A node that failed its test will not answer this lookup either, and the kernel makes no requests for us.
    const dead = await this.store.dead();
    const asked = targets.filter(({ id, byKernel }) => !byKernel && !dead.has(id));
    const state: CountryProgress = { to_ask: asked.length, asked: 0 };
    progress(state);
    return this.exits.ask(asked, signal, () => {
      state.asked += 1;
      progress(state);
    });
  }

  /** Writes only the rows that changed: another country, another source, or a new lookup. */
  private async write(nodes: readonly PlacedNode[], changes: readonly CountryChange[]): Promise<void> {
    const news = changes.filter((change, index) => change.exit !== undefined || differs(nodes[index]!, change.decided));
    const regroup = changes.some(({ decided }, index) => decided.country !== nodes[index]!.country);
    for (let start = 0; start < news.length; start += BATCH) {
      const last = start + BATCH >= news.length;
      await this.store.write(news.slice(start, start + BATCH), regroup && last);
    }
  }
}

function differs(node: PlacedNode, { country, source }: DecidedCountry): boolean {
  return country !== node.country || source !== node.countrySource;
}

function tally(nodes: readonly PlacedNode[], changes: readonly CountryChange[]): CountryTally {
  const changed = changes.filter(({ decided }, index) => decided.country !== nodes[index]!.country).length;
  const by = (source: DecidedCountry['source']): number =>
    changes.filter(({ decided }) => decided.source === source).length;
  return {
    total: nodes.length,
    changed,
    unchanged: nodes.length - changed,
    unknown: by('none'),
    by_source: { exit_ip: by('exit_ip'), name: by('name'), server_ip: by('server_ip'), manual: by('manual') },
  };
}
