import type { ConnectionView } from '@gatehouse/contracts';

/** As the address and the API's parameters call them; empty: any. */
export interface ConnectionFilter extends Readonly<Record<string, string>> {
  search: string;
  node: string;
  rule: string;
  source_ip: string;
  inbound: string;
  /** Empty values everywhere while there is only one. */
  kernel: string;
}

export const NO_FILTER: ConnectionFilter = { search: '', node: '', rule: '', source_ip: '', inbound: '', kernel: '' };

/** What the API's `rule` calls a connection that no rule matched. */
export const NO_RULE = 'none';

/** The node or built-in at the end of the chain. */
export function nodeOf({ chains }: Pick<ConnectionView, 'chains'>): string {
  return chains.at(-1) ?? '';
}

export function ruleOf({ rule, rule_payload: payload }: Pick<ConnectionView, 'rule' | 'rule_payload'>): string {
  if (rule === null) return NO_RULE;
  return payload === null || payload === '' ? rule : `${rule},${payload}`;
}

export function hostOf({ host, sniff_host: sniffed, destination_ip: ip }: ConnectionView): string {
  return host ?? sniffed ?? ip ?? '?';
}

const VALUES = {
  node: nodeOf,
  rule: ruleOf,
  source_ip: ({ source_ip }: ConnectionView) => source_ip,
  inbound: ({ inbound_name }: ConnectionView) => inbound_name,
  kernel: ({ kernel }: ConnectionView) => kernel ?? '',
} satisfies Record<string, (connection: ConnectionView) => string>;

export type ChoiceField = keyof typeof VALUES;

export function isFiltered(filter: ConnectionFilter): boolean {
  return Object.values(filter).some((value) => value.trim() !== '');
}

/** What the API finds with the same parameters. */
export function matchingConnections<T extends ConnectionView>(rows: readonly T[], filter: ConnectionFilter): T[] {
  const word = filter.search.trim().toLowerCase();
  const fields = (Object.keys(VALUES) as ChoiceField[]).filter((field) => filter[field] !== '');
  return rows.filter(
    (row) =>
      fields.every((field) => VALUES[field](row) === filter[field]) &&
      (word === '' || textsOf(row).some((text) => text?.toLowerCase().includes(word))),
  );
}

function textsOf(row: ConnectionView): (string | null)[] {
  const { host, sniff_host, destination_ip, remote_destination, source_ip, inbound_user, rule, rule_payload } = row;
  return [
    host,
    sniff_host,
    destination_ip,
    remote_destination,
    source_ip,
    inbound_user,
    rule,
    rule_payload,
    ...row.chains,
  ];
}

export interface FilterChoice {
  value: string;
  count: number;
}

const MAX_CHOICES = 200;

/** The values that a field has, the most frequent first; the chosen one is among them even if no row has it. */
export function choicesOf(rows: readonly ConnectionView[], field: ChoiceField, chosen: string): FilterChoice[] {
  const counts = new Map<string, number>(chosen === '' ? [] : [[chosen, 0]]);
  for (const row of rows) {
    const value = VALUES[field](row);
    if (value !== '') counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const all = [...counts].map(([value, count]) => ({ value, count }));
  all.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
  const most = all.slice(0, MAX_CHOICES);
  const own = all.find(({ value }) => value === chosen);
  return own === undefined || most.includes(own) ? most : [own, ...most];
}
