import type { TemplateTarget } from '@gatehouse/contracts';

export type LineTarget = Exclude<TemplateTarget, 'clash' | 'sing-box'>;

/** How a program that is configured by lines calls its parts. Headings are in lower case. */
export interface LineDialect {
  /** As written, where a template has no such section. */
  nodesHeading: string;
  nodes: string;
  groups: string;
  rules: string;
  /** Lists of rules from elsewhere, and the option that names their target. */
  lists: { heading: string; target: string };
  /** Sections whose keys are members of groups as well. */
  alsoMembers: readonly string[];
  /** Words of groups for nodes: the service writes them out. */
  takesAll: string;
  filter: string;
  /** With one of these the client fetches nodes itself, so it also decides about the filter. */
  clientOptions: readonly string[];
  builtIn: RegExp;
  reject: string;
}

const SURGE: LineDialect = {
  nodesHeading: '[Proxy]',
  nodes: 'proxy',
  groups: 'proxy group',
  rules: 'rule',
  lists: { heading: 'remote rule', target: 'policy' },
  alsoMembers: ['remote proxy', 'remote filter'],
  takesAll: 'include-all-proxies',
  filter: 'policy-regex-filter',
  clientOptions: ['policy-path', 'include-other-group'],
  builtIn: /^(?:DIRECT|PROXY|REJECT(?:-[A-Z0-9-]+)?|CELLULAR(?:-ONLY)?|HYBRID|NO-HYBRID|DEVICE:.*)$/i,
  reject: 'REJECT',
};

export const LINE_DIALECTS: Readonly<Record<LineTarget, LineDialect>> = {
  surge: SURGE,
  loon: SURGE,
  'quantumult-x': {
    nodesHeading: '[server_local]',
    nodes: 'server_local',
    groups: 'policy',
    rules: 'filter_local',
    lists: { heading: 'filter_remote', target: 'force-policy' },
    alsoMembers: [],
    takesAll: '',
    filter: 'server-tag-regex',
    clientOptions: ['resource-tag-regex'],
    builtIn: /^(?:direct|proxy|reject(?:-[a-z0-9-]+)?)$/i,
    reject: 'reject',
  },
};
