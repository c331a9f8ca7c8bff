import type {
  ConnectionMetadata,
  HealthReport,
  KernelProbe,
  KernelStatus,
  OwnServiceConnection,
  ProbeResult,
  RefusedRule,
  RuleConfig,
  TracedDecision,
} from '@gatehouse/proxy-kernel';
import type { CloseFilter, GroupInUse, KernelCalls, KernelInUse, KernelMethod } from '../common/kernel-ipc.js';
import type { SpoolRange } from '../common/spool-range.js';
import type { KernelProgramName } from '../kernel-config/kernel-mode.js';
import { sharedInTurn } from './coalesce.js';
import { toAppError } from './kernel-errors.js';
import type { KernelOrigin } from './kernel-events.js';
import type { KernelFleet } from './kernel-fleet.js';
import { KernelMember } from './kernel-member.js';
import { mergeConnections, mergeGroups, mergeStatus, mergeUsage, type KernelConnection } from './merge-answers.js';

/** Short, since a request waits for this answer. */
const CLIENT_OF_MS = 2_000;
const SCRAPE_MS = 1_000;
/** A list of many rules of which some are refused is checked several times. */
const RULES_LIMIT_MS = 60_000;
/** mihomo may have to be started for the measurement. */
const PROBE_MARGIN_MS = 20_000;

/** What can be asked of the kernels: the answers of all of them are merged. */
export abstract class KernelAnswers {
  protected abstract readonly fleet: KernelFleet;
  abstract readonly program: KernelProgramName;

  /** Lets kernels delete records that are in the database. A kernel that misses this asks at its next start. */
  async storedRecords(ranges: readonly SpoolRange[]): Promise<void> {
    const owners = this.fleet.ownersOf(ranges);
    await Promise.all([...owners].map(([one, own]) => one.request('stored', own).catch(() => undefined)));
  }

  /**
   * Makes kernels send the records they still hold, and those in `lost`, except the stored ones. @param to the kernel
   * that asked; absent: those that have the lost records. A kernel that is away asks when it is back.
   * @throws KernelUnavailableError
   */
  async resumeRecords(stored: readonly SpoolRange[], lost: readonly SpoolRange[], to?: KernelOrigin): Promise<void> {
    if (to instanceof KernelMember) return void (await to.request('resume', { stored, lost }));
    const owners = this.fleet.ownersOf(lost);
    await Promise.all(
      [...owners].map(([one, own]) => {
        const spools = new Set(own.map(({ spool }) => spool));
        return one.request('resume', { stored: stored.filter(({ spool }) => spools.has(spool)), lost: own });
      }),
    );
  }

  /** @throws AppError KERNEL_UNAVAILABLE, like all methods below. */
  async connections(): Promise<KernelConnection[]> {
    return mergeConnections(await this.askAll('connections', null));
  }

  /** Only one kernel has the connection, since ids are unique. */
  async closeConnection(id: string): Promise<boolean> {
    return (await this.askAll('closeConnection', { id })).some(({ answer }) => answer);
  }

  /** @param at the only kernel to close connections in; absent: all of them. */
  async closeConnections(filter: CloseFilter = {}, at?: KernelOrigin): Promise<number> {
    if (at instanceof KernelMember) return this.translated(at.request('closeConnections', filter));
    const closed = await this.askAll('closeConnections', filter);
    return closed.reduce((sum, { answer }) => sum + answer, 0);
  }

  /**
   * Sends measurements, by node tag; `testUrl` is null for the general address. @param to the only kernel to get them;
   * absent: all of them.
   */
  async setHealth(testUrl: string | null, report: HealthReport, to?: KernelOrigin): Promise<void> {
    if (to instanceof KernelMember) await this.translated(to.request('setHealth', { testUrl, report }));
    else await this.askAll('setHealth', { testUrl, report });
  }

  /** The member that each group uses at the moment, without the list of members. */
  async groupsInUse(): Promise<GroupInUse[]> {
    return mergeGroups((await this.askAll('groupsInUse', null)).map(({ answer }) => answer));
  }

  /** What groups use at the moment, and the open connections by tag: calls of one turn share an answer. */
  readonly inUse: () => Promise<KernelInUse> = sharedInTurn(() => this.askInUse());

  /**
   * The client of the proxy behind a connection to this service; null if the connection is no kernel's, or no kernel
   * runs. @throws AppError KERNEL_UNAVAILABLE when none answers.
   */
  async clientOf(connection: OwnServiceConnection): Promise<string | null> {
    const { running } = this.fleet;
    if (running.length === 0) return null;
    const asked = running.map((one) => one.request('clientOf', connection, CLIENT_OF_MS));
    const answers = await Promise.allSettled(asked);
    const client = answers.find((answer) => answer.status === 'fulfilled' && answer.value !== null);
    if (client?.status === 'fulfilled') return client.value;
    // One that does not answer may be the one that has the connection.
    const silent = answers.find((answer) => answer.status === 'rejected');
    if (silent) throw toAppError(silent.reason);
    return null;
  }

  /** The addresses of the machines that kernels run on; undefined if all of them are of an older version. */
  async addresses(): Promise<readonly string[] | undefined> {
    const known = (await this.askAll('addresses', null)).flatMap(({ answer }) =>
      Array.isArray(answer) ? [answer] : [],
    );
    return known.length === 0 ? undefined : known.flat();
  }

  /** All kernels have the same rules, so one of them is asked. */
  testRoute(flow: ConnectionMetadata): Promise<TracedDecision> {
    return this.translated(this.fleet.askOne('testRoute', flow));
  }

  /**
   * Which of these valid rules the running kernel does not take; none while no kernel answers, since a rule must be
   * possible to write then.
   */
  async refusedRules(rules: readonly RuleConfig[]): Promise<RefusedRule[]> {
    if (rules.length === 0 || this.program === 'embedded') return [];
    return (await this.fleet.askOne('refusedRules', rules, RULES_LIMIT_MS).catch(() => null)) ?? [];
  }

  /** Measures a node in the kernel's own program. */
  probe(probe: KernelProbe): Promise<ProbeResult> {
    return this.translated(this.fleet.askOne('probe', probe, probe.timeoutMs + PROBE_MARGIN_MS));
  }

  /**
   * Sets the databases for rules. A kernel that restarts needs this call again. @param to the only kernel to get them;
   * absent: all of them.
   */
  async reloadGeo(paths: KernelCalls['reloadGeo']['params'], to?: KernelOrigin): Promise<void> {
    if (to instanceof KernelMember) await to.request('reloadGeo', paths);
    // The contents are large, so each may take its time.
    else await Promise.all(this.fleet.running.map((one) => one.request('reloadGeo', paths)));
  }

  async status(): Promise<KernelStatus> {
    const [first, ...others] = (await this.askAll('status', null)).map(({ answer }) => answer);
    if (!first) throw new TypeError('askAll answers with at least one');
    return mergeStatus(first, others);
  }

  /** Called at a scrape, which kernels that do not answer must not delay. */
  async flowFailures(): Promise<number> {
    const answers = await this.fleet.askAll('status', null, SCRAPE_MS);
    return answers.reduce((sum, { answer }) => sum + answer.flowFailuresTotal, 0);
  }

  private async askInUse(): Promise<KernelInUse> {
    const answers = (await this.askAll('inUse', null)).map(({ answer }) => answer);
    const known = answers.filter((answer) => answer !== undefined);
    // Kernels of an older version are asked for one after the other.
    const isOlder = known.length < answers.length;
    const groups = isOlder ? await this.groupsInUse() : mergeGroups(known.map((answer) => answer.groups ?? []));
    const usages = isOlder
      ? (await this.askAll('usage', null)).map(({ answer }) => answer)
      : known.map(({ usage }) => usage);
    return { groups, usage: mergeUsage(usages) };
  }

  protected abstract translated<T>(answer: Promise<T>): Promise<T>;

  private askAll<M extends KernelMethod>(
    method: M,
    params: KernelCalls[M]['params'],
  ): Promise<{ from: KernelMember; answer: KernelCalls[M]['result'] }[]> {
    return this.translated(this.fleet.askAll(method, params));
  }
}
