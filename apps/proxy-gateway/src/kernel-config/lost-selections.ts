import { guardPromise } from '@gatehouse/net';
import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable, Logger, Optional } from '@nestjs/common';
import { AuditLog } from '@gatehouse/audit';
import { GroupSwitches } from '../data/group-switches.js';
import { OutboundGroupEntity } from '../data/outbound-group.entity.js';
import type { LostSelection, MappedConfig } from './kernel-config.mapper.js';

/** Stores, once, that a chosen node is gone and which member its group uses instead. */
@Injectable()
export class LostSelections {
  private readonly logger = new Logger('Outbound');
  private reportedPolicy: string | null = null;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly switches: GroupSwitches,
    @Optional() private readonly audit?: AuditLog,
  ) {}

  /** Returns the losses that this call stored. */
  async record({ lostSelections, lostDefaultPolicy, config }: MappedConfig): Promise<LostSelection[]> {
    const switched: LostSelection[] = [];
    for (const lost of lostSelections) if (await this.recordSelection(lost)) switched.push(lost);
    if (lostDefaultPolicy !== null && lostDefaultPolicy !== this.reportedPolicy) {
      this.logger.warn(`The default policy ${lostDefaultPolicy} is gone; ${config.defaultPolicy} is used instead`);
    }
    this.reportedPolicy = lostDefaultPolicy;
    return switched;
  }

  private async recordSelection(lost: LostSelection): Promise<boolean> {
    const from = { tag: lost.lostTag, name: lost.lostName ?? lost.lostTag };
    const to = { tag: lost.to, name: lost.toName ?? 'REJECT' };
    const recorded = await this.unitOfWork.run(async (tx) => {
      // Skipped if a user has chosen again in the meantime; with several replicas the first one writes.
      const { affected } = await tx.update(
        OutboundGroupEntity,
        { id: lost.groupId, selectedTag: lost.lostTag },
        { selectedTag: null, selectedName: null },
      );
      if (!affected) return false;
      await this.switches.record(tx, { group: lost.group, at: new Date(), from, to, reason: 'selected_gone' });
      return true;
    });
    if (!recorded) return false;
    this.logger.warn(`${lost.group}: ${from.name} is gone, ${to.name} takes over`);
    const entry = this.audit?.system({
      action: 'outbound_group.choice_gone',
      resourceType: 'outbound_group',
      resourceId: lost.group,
      resourceName: lost.group,
      changes: [{ field: 'selected_name', before: from.name, after: null }],
    });
    if (entry) guardPromise(null, entry);
    return true;
  }
}
