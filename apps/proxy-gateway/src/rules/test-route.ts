import { isIP } from 'node:net';
import type { RuleTestNode, RuleTestResponse, RuleTestRule, RuleTestStep } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import type {
  ConnectionMetadata,
  InboundType,
  ListenerState,
  Login,
  MatchedRule,
  Network,
  ProxyUserConfig,
  TracedDecision,
  TraceStep,
} from '@gatehouse/proxy-kernel';
import { WishError, readLogin, userOfLogin } from '@gatehouse/proxy-kernel';
import { Injectable } from '@nestjs/common';
import { KernelService } from '../kernel-process/kernel.service.js';
import type { FlowNames } from '../data/flow-names.js';
import { NodeDirectory } from '../traffic/node-directory.js';
import { parseRouteTarget } from './route-target.js';
import { rawOf } from './rule-definition.js';
import type { RouteTarget } from './route-target.js';

const BUILT_IN_TYPES: Readonly<Record<string, string>> = {
  DIRECT: 'direct',
  REJECT: 'reject',
  'REJECT-DROP': 'reject-drop',
  PASS: 'pass',
};

/** Listeners that clients can connect to. */
const CLIENT_LISTENERS: ReadonlySet<string> = new Set(['mixed', 'http', 'socks']);
const DEFAULT_LISTENER = 'mixed';

/** A hypothetical connection. The defaults are TCP, from this machine, through the mixed listener. */
export interface RouteTest {
  url: string;
  network?: Network | undefined;
  source_ip?: string | undefined;
  inbound?: string | undefined;
  /** The name in the login of a user, with what it asks for. */
  user?: string | undefined;
}

/** Asks the kernel which rule a connection to a URL would match. */
@Injectable()
export class TestRoute {
  constructor(
    private readonly kernel: KernelService,
    private readonly nodes: NodeDirectory,
  ) {}

  /** @throws AppError INVALID_ARGUMENT for a URL without a host or an unknown listener, KERNEL_UNAVAILABLE. */
  async run(test: RouteTest): Promise<RuleTestResponse> {
    const target = parseRouteTarget(test.url);
    if (target === null) throw unfit('url', 'must be a URL, a host, host:port or an address');
    const network = test.network ?? 'tcp';
    const listener = await this.listener(test.inbound);
    const decision = await this.kernel.testRoute({
      ...describeClient(listener, target, network),
      sourceIp: test.source_ip ?? '127.0.0.1',
      ...this.login(test.user, listener),
    });
    const names = await this.nodes.names(decision.chain);
    const rule = decision.rule === null ? null : this.describeRule(decision.rule);
    return {
      ...describeTarget(target, decision),
      network,
      ...describeDecision(decision, names),
      would_use_udp: network === 'udp',
      rule,
      refusal: decision.refusal ?? null,
    };
  }

  /** The listener that clients connect to; null if none is known. */
  private async listener(name: string | undefined): Promise<ListenerState | null> {
    const { listeners } = await this.kernel.status();
    const open = listeners.filter(({ type }) => CLIENT_LISTENERS.has(type));
    const found = open.find((listener) => listener.name === (name ?? DEFAULT_LISTENER));
    if (found || name === undefined) return found ?? open[0] ?? null;
    throw unfit('inbound', `must be one of the listeners: ${open.map((listener) => listener.name).join(', ')}`);
  }

  /** What the flow's user asks for, and the listener for everything that comes in there. */
  private login(
    text: string | undefined,
    listener: ListenerState | null,
  ): Pick<ConnectionMetadata, 'inboundUser' | 'wishes'> {
    const { group, users = [] } = this.kernel.config?.listeners.find(({ name }) => name === listener?.name) ?? {};
    const { user, wishes } = text === undefined ? { user: null } : readUser(text, users);
    if (wishes && this.kernel.program === 'mihomo')
      throw unfit('user', 'mihomo reads nothing behind the name of a user');
    if (wishes?.group !== undefined && group !== undefined && wishes.group !== group) {
      throw unfit('user', 'group is another one than that of this listener');
    }
    const all = { ...wishes, ...(group !== undefined && { group }) };
    return { inboundUser: user, ...(Object.keys(all).length > 0 && { wishes: all }) };
  }

  private describeRule({ index, id, source, type, payload, target }: MatchedRule): RuleTestRule {
    // The kernel's answer leaves out the options of the rule.
    const applied = this.kernel.config?.rules[index];
    const { noResolve = false, src = false } = applied?.id === id ? (applied ?? {}) : {};
    return { index, id, source, type, payload, target, raw: rawOf({ type, payload, target, noResolve, src }) };
  }
}

function unfit(field: string, message: string): AppError {
  return new AppError('INVALID_ARGUMENT', `${field}: ${message}`, { details: [{ field, message }] });
}

/** @throws AppError INVALID_ARGUMENT */
function readUser(text: string, users: readonly ProxyUserConfig[]): Login {
  const names = new Set(users.map(({ username }) => username));
  const user = userOfLogin(text, names);
  if (!names.has(user)) throw unfit('user', 'is not the name of a user of the proxy that can log in');
  try {
    return readLogin(text, user);
  } catch (error) {
    if (!(error instanceof WishError)) throw error;
    throw unfit('user', error.message);
  }
}

/** The connection that a client of the listener would make for the URL. */
function describeClient(
  listener: ListenerState | null,
  target: RouteTarget,
  network: Network,
): Omit<ConnectionMetadata, 'sourceIp'> {
  return {
    network,
    type: inboundType(listener, target, network),
    sourcePort: 0,
    inboundName: listener?.name ?? DEFAULT_LISTENER,
    ...(listener && { inboundPort: listener.port }),
    inboundUser: null,
    host: target.isAddress ? null : target.host,
    destinationIp: target.isAddress ? target.host : null,
    destinationPort: target.port,
  };
}

/**
 * The protocol a client would use: HTTP for a listener that supports it, with `CONNECT` for everything except plain
 * HTTP.
 */
function inboundType(listener: ListenerState | null, { scheme }: RouteTarget, network: Network): InboundType {
  if (listener?.type === 'socks' || network === 'udp') return 'Socks5';
  return scheme === 'http' ? 'HTTP' : 'HTTPS';
}

function describeTarget(target: RouteTarget, decision: TracedDecision) {
  const ip = isIP(target.host) > 0 ? [target.host] : decision.resolvedIps;
  const { url, scheme, host, port } = target;
  return { url, scheme, host, port, ip, resolved: decision.resolvedIps.length > 0 };
}

function describeDecision(decision: TracedDecision, names: FlowNames) {
  const node = names.node(decision.outbound);
  return {
    matched: decision.rule !== null,
    target: decision.target,
    chain: names.chain(decision.chain),
    node: node === null ? null : describeNode(node),
    outbound_type: node?.type ?? BUILT_IN_TYPES[decision.outbound] ?? 'unknown',
    trace: decision.trace.map(describeStep),
    evaluated: decision.evaluated,
    elapsed_us: Math.round(decision.elapsedUs),
  };
}

function describeNode({ id, name, type, country, alive }: RuleTestNode): RuleTestNode {
  return { id, name, type, country, alive };
}

function describeStep({ index, type, payload, result, reason }: TraceStep): RuleTestStep {
  return { index, type, payload, result, reason: reason ?? null };
}
