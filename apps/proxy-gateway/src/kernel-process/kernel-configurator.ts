import { createHash } from 'node:crypto';
import type { KernelState } from '@gatehouse/contracts';
import type { ApplyResult, KernelConfig, ProxyUserConfig } from '@gatehouse/proxy-kernel';
import { digestOf } from '../kernel-config/entries-digest.js';
import { coalesce } from './coalesce.js';
import { mapKernelConfig, withSelection } from '../kernel-config/kernel-config.mapper.js';
import type { KernelConfigRows, MappedConfig } from '../kernel-config/kernel-config.mapper.js';
import type { KernelProcess } from './kernel-process.js';

/** Ten thousand nodes and as many rules take a fraction of this time. */
const APPLY_TIMEOUT_MS = 30_000;

export interface AppliedConfig {
  /** A hash over everything except selections, and the traffic that users have left. */
  hash: string;
  /** The same without what differs between services: where each of them is. */
  revision: string;
  mapped: MappedConfig;
}

/** Reads the rows of a configuration. */
export interface ConfigReader {
  whole: () => Promise<KernelConfigRows>;
  /** The selected tags by group, for groups with a selection. */
  selections: () => Promise<ReadonlyMap<string, string>>;
}

/**
 * Brings the kernel in line with the rows: with a new generation if needed, or by switching groups if that is enough.
 */
export class KernelConfigurator {
  readonly #process: Pick<KernelProcess, 'request' | 'state' | 'pid'>;
  readonly #read: ConfigReader;
  readonly #onApplied: (mapped: MappedConfig) => Promise<void>;
  /** One rebuild at a time, since older rows must never be applied after newer ones. */
  readonly #refresh = coalesce(() => this.#rebuild());
  #applied: AppliedConfig | null = null;
  #lastApply: { result: ApplyResult; at: Date } | null = null;
  #failure: unknown = null;
  #wanted: string | null = null;
  #reloading = false;
  /** The next rebuild reads everything; otherwise only selections can have changed. */
  #whole = false;
  /** The next rebuild applies the configuration even if the kernel already has it. */
  #forced = false;

  constructor(
    process: Pick<KernelProcess, 'request' | 'state' | 'pid'>,
    read: ConfigReader,
    onApplied: (mapped: MappedConfig) => Promise<void>,
  ) {
    this.#process = process;
    this.#read = read;
    this.#onApplied = onApplied;
  }

  /** The configuration that the running kernel applied last; null before the first. */
  get applied(): MappedConfig | null {
    return this.#applied?.mapped ?? null;
  }

  /** The revision that the kernel should have, as far as this service knows; null before the first. */
  get wanted(): string | null {
    return this.#wanted;
  }

  get lastApply(): { result: ApplyResult; at: Date } | null {
    return this.#lastApply;
  }

  /** Why the last attempt failed; null after a success. */
  get failure(): unknown {
    return this.#failure;
  }

  get state(): KernelState {
    const { state } = this.#process;
    if (state === 'stopped' || state === 'starting') return state;
    if (state === 'restarting' || this.#failure !== null) return 'degraded';
    if (!this.#applied) return 'starting';
    return this.#reloading ? 'reloading' : 'running';
  }

  /** To be called when a new kernel has started: it has no configuration yet. */
  forget(): void {
    this.#applied = null;
  }

  /**
   * Null if only selections had to change, or if no kernel runs: it gets the configuration when it starts.
   * @throws KernelUnavailableError, KernelConfigError; the previous generation stays.
   */
  refresh(): Promise<ApplyResult | null> {
    this.#whole = true;
    return this.#refresh();
  }

  /** Like `refresh`, for a caller that changed only selections and need not read thousands of nodes. */
  async refreshSelections(): Promise<void> {
    await this.#refresh();
  }

  /** Applies the configuration whether or not anything has changed. */
  force(): Promise<ApplyResult | null> {
    this.#forced = true;
    return this.refresh();
  }

  async #rebuild(): Promise<ApplyResult | null> {
    const [forced, whole] = [this.#forced, this.#whole];
    this.#forced = this.#whole = false;
    if (this.#process.state !== 'running') return null;
    try {
      if (!whole && this.#applied && this.#failure === null)
        return await this.#reselect(await this.#chosenIn(this.#applied.mapped));
      const next = prepared(await this.#read.whole());
      const { mapped, hash } = next;
      this.#wanted = next.revision;
      const same = !forced && this.#applied?.hash === hash;
      const result = same ? await this.#reselect(mapped) : await this.#apply(next);
      this.#failure = null;
      await this.#onApplied(mapped);
      return result;
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  async #chosenIn(mapped: MappedConfig): Promise<MappedConfig> {
    const selections = await this.#read.selections();
    const groups = mapped.config.groups.map((group) => withSelection(group, selections.get(group.name) ?? null));
    return { ...mapped, config: { ...mapped.config, groups } };
  }

  async #apply(next: AppliedConfig): Promise<ApplyResult> {
    const { mapped, revision } = next;
    const child = this.#process.pid;
    this.#reloading = true;
    try {
      const result = await this.#process.request('apply', { ...mapped.config, revision }, APPLY_TIMEOUT_MS);
      // The kernel that applied it may have died in the meantime; its successor has no configuration.
      if (child === this.#process.pid) this.#applied = next;
      this.#lastApply = { result, at: new Date() };
      return result;
    } finally {
      this.#reloading = false;
    }
  }

  /** Only selections changed, so no new generation is needed. */
  async #reselect(mapped: MappedConfig): Promise<null> {
    const before = new Map(this.applied?.config.groups.map(({ name, selected }) => [name, selected]));
    for (const { name, selected } of mapped.config.groups) {
      if (selected === before.get(name)) continue;
      await this.#process.request('select', { group: name, member: selected ?? null });
    }
    if (this.#applied) this.#applied = { ...this.#applied, mapped };
    return null;
  }
}

/** Several kernels get a configuration from the same rows. */
const preparedRows = new WeakMap<KernelConfigRows, AppliedConfig>();

function prepared(rows: KernelConfigRows): AppliedConfig {
  const known = preparedRows.get(rows);
  if (known) return known;
  const mapped = mapKernelConfig(rows);
  const { config } = mapped;
  const made = {
    mapped,
    hash: hashOf(mapped, config),
    revision: hashOf(mapped, { ...config, ...(config.guard && { guard: { ...config.guard, own: [] } }) }),
  };
  preparedRows.set(rows, made);
  return made;
}

function hashOf({ quotas }: MappedConfig, config: KernelConfig): string {
  const groups = config.groups.map(({ selected: _selected, ...group }) => group);
  const ruleSets = config.ruleSets?.map((set) => ({ ...set, entries: digestOf(set.entries) }));
  const listeners = config.listeners.map(({ users = [], ...listener }) => ({
    ...listener,
    users: users.map(withoutTraffic),
  }));
  return createHash('sha256')
    .update(JSON.stringify({ ...config, groups, ruleSets, listeners, quotas }))
    .digest('hex');
}

/** Kernels count what is left themselves; they only have to be asked again when nothing is. */
function withoutTraffic({ limits, ...user }: ProxyUserConfig): unknown {
  if (limits?.trafficLeft === undefined) return { ...user, limits };
  return { ...user, limits: { ...limits, trafficLeft: limits.trafficLeft > 0 } };
}
