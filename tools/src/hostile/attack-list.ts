import { AGENT_ATTACKS } from './attacks/agents.js';
import { API_ATTACKS } from './attacks/api-clients.js';
import { NODE_ATTACKS } from './attacks/nodes.js';
import { ORIGIN_ATTACKS } from './attacks/origins.js';
import { PROXY_CLIENT_ATTACKS } from './attacks/proxy-clients.js';
import { VISITOR_ATTACKS } from './attacks/visitors.js';
import type { HostileAttack } from './hostile-attack.js';

/** All that hostile parties do, in the order in which it is tried. */
export const HOSTILE_ATTACKS: readonly HostileAttack[] = [
  ...ORIGIN_ATTACKS,
  ...NODE_ATTACKS,
  ...PROXY_CLIENT_ATTACKS,
  ...VISITOR_ATTACKS,
  ...AGENT_ATTACKS,
  ...API_ATTACKS,
];
