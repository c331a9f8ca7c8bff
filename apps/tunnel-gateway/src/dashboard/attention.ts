import type { Actor } from '@gatehouse/auth';
import type { EventView, TunnelWarning } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import { EventsReader } from '../events/events-reader.js';
import { RuleLists } from '../ip-rules/rule-lists.js';
import { LOOKED_UP_KINDS, RuleDatabases } from '../ip-rules/rule-databases.js';
import { seesAll } from '../data/owned-rows.js';
import { Warnings } from '../warnings/warnings.service.js';
import { readerText } from '../reader-text.js';
import type { Presence } from './presence.js';

const EVENTS_SHOWN = 20;

/** Recent events, and problems that need attention. */
@Injectable()
export class Attention {
  constructor(
    private readonly events: EventsReader,
    private readonly databases: RuleDatabases,
    private readonly lists: RuleLists,
    private readonly others: Warnings,
  ) {}

  async recentEvents(actor: Actor): Promise<EventView[]> {
    return (await this.events.page({ limit: EVENTS_SHOWN }, actor)).items;
  }

  /** Warnings about the gateway itself come first. */
  async warnings(actor: Actor, { agents }: Presence): Promise<TunnelWarning[]> {
    const warnings: TunnelWarning[] = [];
    if (agents === null) {
      const message = readerText('the data plane does not answer: no visitor and no agent gets in');
      warnings.push({ code: 'edge_unavailable', message, resource: null, since: null });
    }
    // Only administrators can fix it.
    for (const kind of seesAll(actor) ? LOOKED_UP_KINDS : []) {
      if (!(await this.databases.isMissing(kind))) continue;
      const message = readerText(this.databases.warningFor(kind) ?? '');
      warnings.push({ code: `${kind}_rules_without_database`, message, resource: null, since: null });
    }
    const missing = seesAll(actor) ? await this.lists.warningForAll() : null;
    if (missing !== null) {
      const message = readerText(missing);
      warnings.push({ code: 'list_rules_without_list', message, resource: null, since: null });
    }
    return [...warnings, ...(await this.others.list(actor))];
  }
}
