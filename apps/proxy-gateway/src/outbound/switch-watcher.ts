import { UnitOfWork } from '@gatehouse/persistence';
import type { GroupSwitched } from '@gatehouse/proxy-kernel';
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { KernelOrigin } from '../kernel-process/kernel-events.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { Preferences } from '../preferences/preferences.service.js';
import { NodeDirectory } from '../traffic/node-directory.js';
import { GroupSwitches } from '../data/group-switches.js';

/**
 * Stores switches that groups make on their own, and closes the connections that stay on the old member if that is
 * configured.
 */
@Injectable()
export class SwitchWatcher implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger('Outbound');
  private working: Promise<void> = Promise.resolve();

  constructor(
    private readonly kernel: KernelService,
    private readonly switches: GroupSwitches,
    private readonly nodes: NodeDirectory,
    private readonly preferences: Preferences,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  onModuleInit(): void {
    this.kernel.onSwitched((change, at) => {
      // The first member of a new group is no switch; switches by users are stored where they are made.
      if (change.from === null) return;
      if (change.reason === 'manual' && this.switches.isExpected(change.group, change.to)) return;
      this.working = this.working
        .then(() => this.record(change, change.from, at))
        .catch((error: unknown) => this.logger.error(`The switch of ${change.group} was not stored`, error));
    });
  }

  /** Runs before the stage in which the database closes. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.working;
  }

  private async record(change: GroupSwitched, left: string | null, at?: KernelOrigin): Promise<void> {
    const closed = await this.close(change.group, left, at);
    const names = await this.nodes.names([change.from, change.to]);
    const end = (tag: string | null) => ({ tag, name: tag === null ? 'REJECT' : (names.node(tag)?.name ?? tag) });
    const [from, to] = [end(change.from), end(change.to)];
    const reason = this.reasonOf(change);
    const id = await this.unitOfWork.run((tx) =>
      this.switches.record(tx, { group: change.group, at: new Date(change.at), from, to, reason }),
    );
    if (id === null) return;
    this.logger.log(`${change.group}: ${to.name} takes over from ${from.name} (${reason})`);
    if (closed > 0) await this.switches.setClosed(id, closed);
  }

  /** A `select` group without a choice uses its first member: a switch means that its members changed. */
  private reasonOf({ group, reason }: GroupSwitched): string {
    const type = this.kernel.config?.groups.find(({ name }) => name === group)?.type;
    return type === 'select' && reason !== 'selected_gone' ? 'members_changed' : reason;
  }

  /** Only in the kernel that switched: others may still use the member. */
  private async close(group: string, member: string | null, at?: KernelOrigin): Promise<number> {
    const choice = this.preferences.get('switch.close_connections');
    if (choice === 'none' || member === null) return 0;
    // A kernel that is down has no open connections.
    return this.kernel.closeConnections(choice === 'all' ? {} : { group, member }, at).catch(() => 0);
  }
}
