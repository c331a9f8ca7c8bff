import type { CursorPage } from './cursor-page.js';

/** Lets addresses in or keeps them out. */
export interface IpRuleView {
  /** @asType integer */
  id: number;
  scope: 'global' | 'console' | 'user' | 'client' | 'tunnel' | 'host';
  /**
   * 0 for `global` and `console`.
   * @asType integer
   */
  resource_id: number;
  type: 'allow' | 'deny';
  pattern: string;
  pattern_kind: 'exact' | 'cidr' | 'wildcard' | 'range' | 'country' | 'asn' | 'any' | 'list';
  /** Only for requests of hosts with one of these paths, each with all below it; `*` is one segment. Null: any path. */
  paths: string[] | null;
  /** Only for requests of hosts with one of these methods; `GET` includes `HEAD`. Null: any method. */
  methods: string[] | null;
  /**
   * Rules with a lower number are checked first.
   * @asType integer
   */
  priority: number;
  remark: string | null;
  /** @format date-time */
  created_at: string | null;
  /** @format date-time */
  updated_at: string | null;
}

export type IpRulePage = CursorPage<IpRuleView>;
