import { createHash } from 'node:crypto';
import type { KernelState } from '@gatehouse/contracts';
import type { ApplyResult, KernelConfig } from '@gatehouse/proxy-kernel';
import { digestOf } from '../kernel-config/entries-digest.js';
import { coalesce } from './coalesce.js';
import { mapKernelConfig, withSelection } from '../kernel-config/kernel-config.mapper.js';
import type { KernelConfigRows, MappedConfig } from '../kernel-config/kernel-config.mapper.js';
import type { KernelProcess } from './kernel-process.js';

/** Ten thousand nodes and as many rules take a fraction of it. */
const APPLY_TIMEOUT_MS = 30_000;

export interface AppliedConfig {
  /** Over everything but the selections. */
  hash: string;
  mapped: MappedConfig;
}

/** Where rows come from. */
export interface ConfigReader {
  whole: () => Promise<KernelConfigRows>;
  /** Tags by group, of those in which somebody chose. */
  selections: () => Promise<ReadonlyMap<string, string>>;
}

/** Makes the kernel what the rows say: by a new generation where needed, by switching groups where that is enough. */
export class KernelConfigurator {
  readonly #process: Pick<KernelProcess, 'request' | 'state' | 'pid'>;
  readonly #read: ConfigReader;
  readonly #onApplied: (mapped: MappedConfig) => Promise<void>;
  /** One at a time: rows read earlier must never be applied after rows read later. */
  readonly #refresh = coalesce(() => this.#rebuild());
  #applied: AppliedConfig | null = null;
  #lastApply: { result: ApplyResult; at: Date } | null = null;
  #failure: unknown = null;
  #reloading = false;
  /** The next rebuild reads everything; otherwise what is chosen in groups is all that may have changed. */
  #whole = false;
  /** The next rebuild applies even what the kernel has already. */
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

  /** What the running kernel was last told to be; null before the first. */
  get applied(): MappedConfig | null {
    return this.#applied?.mapped ?? null;
  }

  get lastApply(): { result: ApplyResult; at: Date } | null {
    return this.#lastApply;
  }

  /** Why the last attempt failed; null after one that succeeded. */
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

  /** A kernel that just started knows nothing, whatever its predecessor was told. */
  forget(): void {
    this.#applied = null;
  }

  /**
   * Null where nothing but selections had to change, or no kernel runs: it is told when it does.
   * @throws KernelUnavailableError, KernelConfigError; the generation before stays.
   */
  refresh(): Promise<ApplyResult | null> {
    this.#whole = true;
    return this.#refresh();
  }

  /** The same for somebody who changed nothing but selections: thousands of nodes need not be read for that. */
  async refreshSelections(): Promise<void> {
    await this.#refresh();
  }

  /** Applies whether or not anything changed. */
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
      const mapped = mapKernelConfig(await this.#read.whole());
      const hash = hashWithoutSelections(mapped.config);
      const same = !forced && this.#applied?.hash === hash;
      const result = same ? await this.#reselect(mapped) : await this.#apply(mapped, hash);
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

  async #apply(mapped: MappedConfig, hash: string): Promise<ApplyResult> {
    const child = this.#process.pid;
    this.#reloading = true;
    try {
      const result = await this.#process.request('apply', mapped.config, APPLY_TIMEOUT_MS);
      // The one that took it may have died since: its successor knows nothing of it.
      if (child === this.#process.pid) this.#applied = { hash, mapped };
      this.#lastApply = { result, at: new Date() };
      return result;
    } finally {
      this.#reloading = false;
    }
  }

  /** Nothing but choices changed: no new generation for that. */
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

function hashWithoutSelections(config: KernelConfig): string {
  const groups = config.groups.map(({ selected: _selected, ...group }) => group);
  const ruleSets = config.ruleSets?.map((set) => ({ ...set, entries: digestOf(set.entries) }));
  return createHash('sha256')
    .update(JSON.stringify({ ...config, groups, ruleSets }))
    .digest('hex');
}
