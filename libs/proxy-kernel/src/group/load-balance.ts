import type { LoadBalanceStrategy } from '../interfaces/config.js';
import type { ConnectionMetadata } from '../interfaces/connection.js';
import { siteOf } from './flow-key.js';
import type { GroupChoice, GroupRule, GroupView } from './group-rule.js';
import { Rendezvous } from './rendezvous.js';
import { StickySessions } from './sticky-sessions.js';

/** Spreads flows over the living members. Nothing alive: over all, since a wrong measurement must not cut everything off. */
export class LoadBalanceRule implements GroupRule {
  readonly pick: NonNullable<GroupRule['pick']>;

  constructor(strategy: LoadBalanceStrategy, now: () => number) {
    this.pick = STRATEGIES[strategy](now);
  }

  /** What stands for the group where no flow is asked about. */
  choose({ members, health }: GroupView): GroupChoice {
    return { member: members.find((tag) => health(tag).alive) ?? members[0] ?? null, reason: 'dead' };
  }
}

type Pick = NonNullable<GroupRule['pick']>;

const STRATEGIES: Record<LoadBalanceStrategy, (now: () => number) => Pick> = {
  'round-robin': roundRobin,
  'consistent-hashing': consistentHashing,
  'sticky-sessions': stickySessions,
};

function roundRobin(): Pick {
  let turn = 0;
  return (_flow, members, take) => {
    const member = members[turn % members.length] ?? '';
    if (take) turn = (turn + 1) % members.length;
    return member;
  };
}

function consistentHashing(): Pick {
  const ring = new Rendezvous();
  return (flow, members) => ring.pick(siteOf(flow), members);
}

/** A session that begins takes the member that hashing gives it, so that what is shown beforehand is what it takes. */
function stickySessions(now: () => number): Pick {
  const ring = new Rendezvous();
  const sessions = new StickySessions(now);
  return (flow: ConnectionMetadata, members, take) => {
    const key = `${flow.sourceIp} ${siteOf(flow)}`;
    const kept = sessions.find(key);
    const member = kept !== null && members.includes(kept) ? kept : ring.pick(key, members);
    if (take) sessions.keep(key, member);
    return member;
  };
}
