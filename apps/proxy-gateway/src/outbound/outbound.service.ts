import type { Actor } from '@gatehouse/auth';
import type {
  DefaultPolicyResult,
  GroupSwitchRecord,
  OutboundGroupView,
  OutboundOverview,
  Page,
} from '@gatehouse/contracts';
import { notify, UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { maySeeSecrets } from '../auth/may-see-secrets.js';
import { KERNEL_CONFIG_CHANNEL } from '../kernel-config-channel.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { SERVICE_VERSION } from '../service-version.js';
import { CurrentConfig } from './current-config.js';
import { GroupFacts, groupNotFound } from './group-facts.js';
import { GroupSwitches } from '../data/group-switches.js';
import { OutboundGroupEntity } from '../data/outbound-group.entity.js';
import { OutboundPolicyEntity } from '../data/outbound-policy.entity.js';
import type { HistoryQuery, MembersQuery } from './outbound.dto.js';
import { toOutboundOverview } from './outbound.view.js';
import type { MemberWindow } from './outbound.view.js';
import { PolicyOptions } from './policy-options.js';
import { resolvePolicy } from './policy-reference.js';

@Injectable()
export class OutboundService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly current: CurrentConfig,
    private readonly options: PolicyOptions,
    private readonly kernel: KernelService,
    private readonly facts: GroupFacts,
    private readonly switches: GroupSwitches,
  ) {}

  async overview(query: MembersQuery, actor: Actor | null): Promise<OutboundOverview> {
    const { facts, config } = await this.facts.read(windowOf(query), maySeeSecrets(actor));
    const kernel = { type: this.kernel.program, version: SERVICE_VERSION, state: this.kernel.state };
    const overview = toOutboundOverview({ mode: config.mode, defaultPolicy: config.defaultPolicy, kernel }, facts);
    const { member } = query;
    if (member === undefined) return overview;
    const having = new Set(config.groups.filter(({ members }) => members.includes(member)).map(({ name }) => name));
    return { ...overview, groups: overview.groups.filter(({ name }) => having.has(name)) };
  }

  /** @throws AppError NOT_FOUND */
  group(name: string, query: MembersQuery, actor: Actor | null): Promise<OutboundGroupView> {
    return this.facts.one(name, windowOf(query), maySeeSecrets(actor));
  }

  /** @throws AppError NOT_FOUND */
  async history(name: string, query: HistoryQuery): Promise<Page<GroupSwitchRecord>> {
    // PostgreSQL rejects texts with NUL.
    const known = !name.includes('\0');
    const group = known && (await this.unitOfWork.run((tx) => tx.findOneBy(OutboundGroupEntity, { name })));
    if (!group) throw groupNotFound(name);
    return this.switches.page(group.id, query);
  }

  /** @throws AppError UNPROCESSABLE, CONFLICT. */
  async setDefaultPolicy(policy: string): Promise<DefaultPolicyResult> {
    const mapped = await this.current.read();
    const options = await this.options.all(mapped);
    const chosen = resolvePolicy(policy, options, 'policy');
    const before = mapped.config.defaultPolicy;
    await this.unitOfWork.run(async (tx) => {
      await tx.update(OutboundPolicyEntity, 1, { defaultPolicy: chosen.tag });
      await notify(tx, KERNEL_CONFIG_CHANNEL, '');
    });
    await this.kernel.sync();
    const previous = options.find(({ tag }) => tag === before)?.name ?? before;
    return { default_policy: chosen.name, proxy: chosen.tag, previous };
  }
}

function windowOf({ members, members_limit, members_offset }: MembersQuery): MemberWindow {
  return { limit: members === 'false' ? 0 : (members_limit ?? Infinity), offset: members_offset };
}
