import { randomInt } from 'node:crypto';
import { Rendezvous } from '../group/rendezvous.js';
import {
  NoSuchWayError,
  type ConnectionMetadata,
  type MatchedRule,
  type RouteDecision,
  type Wishes,
} from '../interfaces/index.js';
import type { NodeLabels } from './node-labels.js';
import type { NodeSessions, SessionKey } from './node-sessions.js';
import { DEFAULT_TTL_MS, printWishes } from './wishes.js';

/** The groups of the present generation. */
export interface WishGroups {
  supportsUdp(tag: string): boolean;
  leaf(tag: string): string;
  nodesBelow(group: string): ReadonlySet<string> | null;
  useChain(tag: string, flow: ConnectionMetadata): string[];
}

export interface WishHealth {
  of(testUrl: undefined, tag: string): { alive: boolean };
  /** See `HealthView`. */
  claimTrial(tag: string): boolean;
}

export interface WishParts {
  groups: WishGroups;
  labels: NodeLabels;
  health: WishHealth;
  sessions: Pick<NodeSessions, 'find' | 'keep'>;
}

/** What a flow asks for, after the rules have decided on it. */
interface Request {
  flow: ConnectionMetadata;
  wishes: Wishes;
  /** The group whose nodes are meant; null: all nodes. */
  group: string | null;
  /** The nodes that are meant; null: all below the group. */
  labelled: readonly string[] | null;
}

const REJECTING = new Set(['REJECT', 'REJECT-DROP', 'PASS']);

/**
 * The way of a flow whose user asks for one. Null: the wishes leave it to the rules, whose rejections always stand.
 * @throws NoSuchWayError, so that traffic never leaves elsewhere instead.
 */
export function wishedWay(flow: ConnectionMetadata, decided: RouteDecision, parts: WishParts): RouteDecision | null {
  const { wishes } = flow;
  const { groups, labels } = parts;
  if (!wishes) return null;
  const byRules = groups.leaf(decided.target);
  if (REJECTING.has(byRules)) return null;
  const { country, node, group, session } = wishes;
  if (country === undefined && node === undefined && group === undefined) {
    // Only a session: the rules choose the group, and the session a node of it.
    if (byRules === 'DIRECT' || !groups.nodesBelow(decided.target)) return null;
    const kept = nodeOf({ flow, wishes, group: decided.target, labelled: null }, parts);
    return { ...decided, chain: [decided.target, kept] };
  }
  if (group !== undefined && !groups.nodesBelow(group)) throw noWay(wishes, 'there is no such group');
  const labelled = labels.find(wishes);
  const isGroupAlone = group !== undefined && labelled === null && session === undefined;
  const chain = isGroupAlone
    ? groups.useChain(group, flow)
    : [...(group === undefined ? [] : [group]), nodeOf({ flow, wishes, group: group ?? null, labelled }, parts)];
  const target = chain[0] ?? '';
  return { ...decided, rule: ruleOf(wishes, target), target, chain };
}

/** Like `wishedWay`, for a question: no session is kept, and nothing counts as used. @throws NoSuchWayError */
export function explainWishedWay(
  flow: ConnectionMetadata,
  decided: RouteDecision,
  {
    groups,
    labels,
    health,
    sessions,
  }: WishParts & { groups: { chain(tag: string, flow: ConnectionMetadata): string[] } },
): RouteDecision | null {
  return wishedWay(flow, decided, {
    labels,
    groups: {
      supportsUdp: (tag) => groups.supportsUdp(tag),
      leaf: (tag) => groups.leaf(tag),
      nodesBelow: (group) => groups.nodesBelow(group),
      useChain: (tag, asked) => groups.chain(tag, asked),
    },
    health: { of: (url, tag) => health.of(url, tag), claimTrial: () => false },
    sessions: { find: (key) => sessions.find(key), keep: () => undefined },
  });
}

/** Stands in logs for the rule that did not decide. */
function ruleOf(wishes: Wishes, target: string): MatchedRule {
  return { id: null, index: -1, source: 'system', type: 'WISH', payload: printWishes(wishes), target };
}

function nodeOf(request: Request, parts: WishParts): string {
  const { flow, wishes } = request;
  const { groups, sessions } = parts;
  if (wishes.session === undefined) return newNode(request, parts, (nodes) => nodes[randomInt(nodes.length)] ?? '');
  const key = sessionKey(request);
  const kept = sessions.find(key);
  const node =
    kept !== null && isMeant(kept, request, parts) && isUsable(kept, request, parts)
      ? kept
      : newNode(request, parts, (nodes) => new Rendezvous().pick(`${key.user} ${key.name}`, nodes));
  if (flow.network === 'udp' && !groups.supportsUdp(node)) {
    throw noWay(wishes, 'the node of this session carries no UDP');
  }
  sessions.keep(key, node, wishes.ttlMs ?? DEFAULT_TTL_MS);
  return node;
}

/** A living one of the nodes that are meant. */
function newNode(request: Request, parts: WishParts, choose: (nodes: readonly string[]) => string): string {
  const meant = meantNodes(request, parts);
  const { flow, wishes } = request;
  if (meant.length === 0) throw noWay(wishes, 'there is no such node');
  const fitting = flow.network === 'udp' ? meant.filter((tag) => parts.groups.supportsUdp(tag)) : meant;
  if (fitting.length === 0) throw noWay(wishes, 'no such node carries UDP');
  const living = fitting.filter((tag) => parts.health.of(undefined, tag).alive);
  if (living.length > 0) return choose(living);
  const trial = fitting.find((tag) => parts.health.claimTrial(tag));
  if (trial !== undefined) return trial;
  // Nobody asks for another node than the one with this name, so a wrong measurement should not stop it.
  if (wishes.node !== undefined) return choose(fitting);
  throw noWay(wishes, 'no such node is alive');
}

function meantNodes({ group, labelled }: Request, { groups }: WishParts): readonly string[] {
  const below = group === null ? null : groups.nodesBelow(group);
  if (labelled === null) return [...(below ?? [])];
  return below ? labelled.filter((tag) => below.has(tag)) : labelled;
}

/** Whether the node of a session is still one of those that are meant. */
function isMeant(tag: string, { group, labelled }: Request, { groups }: WishParts): boolean {
  const isBelow = group === null || groups.nodesBelow(group)?.has(tag) === true;
  return isBelow && (labelled === null || labelled.includes(tag));
}

/** A node that the wish names is kept whatever its health is. */
function isUsable(tag: string, { wishes }: Request, { health }: WishParts): boolean {
  return wishes.node !== undefined || health.of(undefined, tag).alive;
}

function noWay(wishes: Wishes, problem: string): NoSuchWayError {
  return new NoSuchWayError(`${problem}: ${printWishes(wishes)}`);
}

/** A user's session is another one with other wishes, and with another group that the rules choose. */
function sessionKey({ flow, wishes, group }: Request): SessionKey {
  const { ttlMs: _, ...asked } = wishes;
  return { user: flow.inboundUser ?? '', name: `${printWishes(asked)} ${group ?? ''}` };
}
