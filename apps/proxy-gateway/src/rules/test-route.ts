import { isIP } from 'node:net';
import type { RuleTestNode, RuleTestResponse, RuleTestRule, RuleTestStep } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import type { ConnectionMetadata, MatchedRule, TracedDecision, TraceStep } from '@gatehouse/proxy-kernel';
import { Injectable } from '@nestjs/common';
import { KernelService } from '../kernel-host/kernel.service.js';
import type { FlowNames } from '../traffic/flow-names.js';
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

/** Asks the kernel what a connection to a url would meet. */
@Injectable()
export class TestRoute {
  constructor(
    private readonly kernel: KernelService,
    private readonly nodes: NodeDirectory,
  ) {}

  /** @throws AppError INVALID_ARGUMENT for a url without a host, KERNEL_UNAVAILABLE. */
  async run(url: string): Promise<RuleTestResponse> {
    const target = parseRouteTarget(url);
    if (target === null) {
      const message = 'must be a URL, a host, host:port or an address';
      throw new AppError('INVALID_ARGUMENT', `url: ${message}`, { details: [{ field: 'url', message }] });
    }
    const decision = await this.kernel.testRoute(toFlow(target));
    const names = await this.nodes.names(decision.chain);
    const rule = decision.rule === null ? null : this.describeRule(decision.rule);
    return { ...describeTarget(target, decision), ...describeDecision(decision, names), rule };
  }

  private describeRule({ index, id, source, type, payload, target }: MatchedRule): RuleTestRule {
    // What the kernel tells of a rule leaves its options out.
    const applied = this.kernel.config?.rules[index];
    const { noResolve = false, src = false } = applied?.id === id ? (applied ?? {}) : {};
    return { index, id, source, type, payload, target, raw: rawOf({ type, payload, target, noResolve, src }) };
  }
}

/** The connection that such a url would become. */
function toFlow(target: RouteTarget): ConnectionMetadata {
  return {
    network: 'tcp',
    type: 'Inner',
    sourceIp: '127.0.0.1',
    sourcePort: 0,
    inboundName: 'test',
    inboundUser: null,
    host: target.isAddress ? null : target.host,
    destinationIp: target.isAddress ? target.host : null,
    destinationPort: target.port,
  };
}

function describeTarget(target: RouteTarget, decision: TracedDecision) {
  const ip = isIP(target.host) > 0 ? [target.host] : decision.resolvedIps;
  const { url, scheme, host, port } = target;
  return { url, scheme, host, port, network: 'tcp' as const, ip, resolved: decision.resolvedIps.length > 0 };
}

function describeDecision(decision: TracedDecision, names: FlowNames) {
  const node = names.node(decision.outbound);
  return {
    matched: decision.rule !== null,
    target: decision.target,
    chain: names.chain(decision.chain),
    node: node === null ? null : describeNode(node),
    outbound_type: node?.type ?? BUILT_IN_TYPES[decision.outbound] ?? 'unknown',
    would_use_udp: false,
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
