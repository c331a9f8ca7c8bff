import type { PublicationDefinition, PublicationSources, PublicationStep } from '@gatehouse/contracts';
import { compileNodeFilter } from '../kernel-config/node-filter.js';
import { compileNameReplacement } from '../kernel-config/name-replacement.js';

/** A node as the steps of a publication see it. */
export interface SelectableNode {
  id: number;
  name: string;
  type: string;
  server: string;
  port: number;
  country: string | null;
  tags: readonly string[];
  subscriptionIds: readonly number[];
  manual: boolean;
  /** The last result with the general test address; null before the first. */
  alive: boolean | null;
  delayMs: number | null;
}

/** The nodes of a publication in their order, with the names that its steps gave them. */
export interface Selection<N extends SelectableNode> {
  /** How many nodes the sources name. */
  sourcesTotal: number;
  nodes: N[];
}

type Run<N extends SelectableNode> = (nodes: readonly N[]) => N[];

/**
 * Runs the chain of a publication over all nodes. Pure: the same nodes give the same result.
 * @throws NamePatternError for a pattern that cannot be used.
 */
export function selectNodes<N extends SelectableNode>(
  all: readonly N[],
  { sources, steps = [] }: Pick<PublicationDefinition, 'sources' | 'steps'>,
): Selection<N> {
  const chain = steps.map((step) => compileStep<N>(step));
  const taken = all.filter(fromSources(sources));
  return { sourcesTotal: taken.length, nodes: chain.reduce((nodes, run) => run(nodes), [...taken]) };
}

/** Compiles every pattern of a chain. @throws NamePatternError */
export function checkSteps(steps: readonly PublicationStep[]): void {
  for (const step of steps) compileStep(step);
}

function fromSources(sources: PublicationSources | undefined): (node: SelectableNode) => boolean {
  const { subscription_ids: ids, tags, manual } = sources ?? {};
  if (ids === undefined && tags === undefined && manual !== true) return () => true;
  return (node) =>
    (manual === true && node.manual) ||
    node.subscriptionIds.some((id) => ids?.includes(id)) ||
    node.tags.some((tag) => tags?.includes(tag));
}

function compileStep<N extends SelectableNode>(step: PublicationStep): Run<N> {
  switch (step.do) {
    case 'keep':
    case 'drop': {
      const fits = compileCondition(step);
      const wanted = step.do === 'keep';
      return (nodes) => nodes.filter((node) => fits(node) === wanted);
    }
    case 'rename': {
      const rename = compileNameReplacement(step.pattern ?? '', step.replacement ?? '');
      return (nodes) => nodes.map((node) => renamed(node, rename(node.name)));
    }
    case 'sort':
      return (nodes) => sorted(nodes, step);
    case 'dedupe':
      return (nodes) => firstOfEach(nodes, step.same ?? 'server');
    case 'limit':
      return (nodes) => nodes.slice(0, step.count ?? nodes.length);
  }
}

function compileCondition({
  name,
  types,
  countries,
  tags,
  health,
}: PublicationStep): (node: SelectableNode) => boolean {
  const fits = compileNodeFilter({
    ...(name !== undefined && { name }),
    ...(types && { types }),
    ...(countries && { countries }),
    ...(tags && { tags }),
  });
  return (node) => {
    if (health === 'alive' && node.alive !== true) return false;
    if (health === 'not_dead' && node.alive === false) return false;
    return fits(node);
  };
}

/** A name that a pattern leaves empty stays. */
function renamed<N extends SelectableNode>(node: N, name: string): N {
  const trimmed = name
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, MAX_NAME);
  return trimmed === '' || trimmed === node.name ? node : { ...node, name: trimmed };
}

const MAX_NAME = 200;

function sorted<N extends SelectableNode>(nodes: readonly N[], { by, descending }: PublicationStep): N[] {
  const sign = descending === true ? -1 : 1;
  return [...nodes].sort((a, b) => {
    const [left, right] = [keyOf(a, by), keyOf(b, by)];
    // What is not known comes last in either direction.
    if (left === null || right === null) return left === right ? 0 : left === null ? 1 : -1;
    if (typeof left === 'number' && typeof right === 'number') return sign * (left - right);
    return sign * COLLATOR.compare(String(left), String(right));
  });
}

/** `Tokyo 2` before `Tokyo 10`. */
const COLLATOR = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

function keyOf(node: SelectableNode, by: PublicationStep['by']): string | number | null {
  switch (by) {
    case 'country':
      return node.country;
    case 'type':
      return node.type;
    case 'delay':
      return node.alive === true ? node.delayMs : null;
    case 'name':
    case undefined:
      return node.name;
  }
}

function firstOfEach<N extends SelectableNode>(nodes: readonly N[], same: 'server' | 'name'): N[] {
  const seen = new Set<string>();
  return nodes.filter((node) => {
    const key = same === 'name' ? node.name : `${node.type} ${node.server} ${node.port}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
