import type { GroupSwitchView } from '@gatehouse/contracts';
import { Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { OutboundGroupEntity } from '../outbound/outbound-group.entity.js';
import type { LostSelection, MappedConfig } from './kernel-config.mapper.js';

/** Writes down that a chosen node is gone and what its group uses instead, once. */
@Injectable()
export class LostChoices {
  private readonly logger = new Logger('Outbound');
  private toldPolicy: string | null = null;

  constructor(private readonly dataSource: DataSource) {}

  /** Names of the groups that this call recorded. */
  async record({ lostSelections, lostDefaultPolicy, config }: MappedConfig): Promise<string[]> {
    const switched: string[] = [];
    for (const lost of lostSelections) if (await this.recordSelection(lost)) switched.push(lost.group);
    if (lostDefaultPolicy !== null && lostDefaultPolicy !== this.toldPolicy) {
      this.logger.warn(`The default policy ${lostDefaultPolicy} is gone; ${config.defaultPolicy} is used instead`);
    }
    this.toldPolicy = lostDefaultPolicy;
    return switched;
  }

  private async recordSelection(lost: LostSelection): Promise<boolean> {
    const lastSwitch: GroupSwitchView = {
      at: new Date().toISOString(),
      from: lost.lostName ?? lost.lostTag,
      to: lost.toName ?? 'REJECT',
      reason: 'selected_gone',
    };
    // Only where nobody chose anew meanwhile; with several replicas the first one writes.
    const { affected } = await this.dataSource
      .createQueryBuilder()
      .update(OutboundGroupEntity)
      .set({ selectedTag: null, selectedName: null, lastSwitch })
      .where('id = :id AND selected_tag = :tag', { id: lost.groupId, tag: lost.lostTag })
      .execute();
    if (!affected) return false;
    this.logger.warn(`${lost.group}: ${lastSwitch.from} is gone, ${lastSwitch.to} takes over`);
    return true;
  }
}
