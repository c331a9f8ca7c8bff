import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiClient } from '../../shared/api/api-client.js';
import { useApi } from '../../shared/api/api-context.js';
import { t } from '../messages/index.js';
import { useIsAdministrator, useUser } from '../user-context.js';
import { findResources, nameResource, type NamedKind } from './resources.js';

const NAMED = ['client', 'tunnel', 'host', 'user', 'webhook'] as const;

export interface ResourceRef {
  kind: string;
  id: number;
}

export type NameOf = (kind: string, id: number) => string;

const KINDS: readonly NamedKind[] = ['client', 'tunnel', 'host', 'user'];
/** From so many of a kind on a list of them is asked for first. */
const MANY = 3;

interface NameOptions {
  /** Many of them may be deleted: names come from the lists alone, so that nothing is asked for that is gone. */
  mayBeGone?: boolean;
}

/** Names of what a page of a list is about; each is asked for once. */
export function useResourceNames(refs: readonly ResourceRef[], options?: NameOptions): NameOf {
  return useNames(refs, options).nameOf;
}

/** A list with the names of what its rows are about. It comes with them: a row does not change its height when it gets its name. */
export function useNamedRows<T>(
  rows: readonly T[] | undefined,
  refOf: (row: T) => ResourceRef,
): { rows: readonly T[] | undefined; nameOf: NameOf } {
  const { nameOf, isComplete } = useNames(rows?.map(refOf) ?? []);
  const wasComplete = useRef(false);
  wasComplete.current ||= rows !== undefined && isComplete;
  return { rows: wasComplete.current ? rows : undefined, nameOf };
}

function useNames(
  refs: readonly ResourceRef[],
  { mayBeGone = false }: NameOptions = {},
): { nameOf: NameOf; isComplete: boolean } {
  const api = useApi();
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  // Others know no user but themselves.
  const isAdministrator = useIsAdministrator();
  const me = useUser();
  const named = refs.filter(({ kind }) => isKind(kind) && (isAdministrator || kind !== 'user'));
  const wanted = [...new Set(named.map(keyOf))].filter((key) => !names.has(key)).sort();
  useEffect(() => {
    const abort = new AbortController();
    void findNames(api, wanted, mayBeGone, abort.signal).then((found) => {
      if (!abort.signal.aborted) setNames((before) => new Map([...before, ...found]));
    });
    return () => abort.abort();
  }, [wanted.join()]);
  const nameOf: NameOf = (kind, id) => {
    if (kind === 'user' && id === me.id) return me.username;
    return names.get(keyOf({ kind, id })) ?? (id === 0 ? kind : placeholderOf({ kind, id }));
  };
  return { nameOf, isComplete: wanted.length === 0 };
}

function isKind(kind: string): boolean {
  return KINDS.some((known) => known === kind);
}

function keyOf({ kind, id }: ResourceRef): string {
  return `${kind} ${id}`;
}

/** What stands there until the name is read. */
function placeholderOf({ kind, id }: ResourceRef): string {
  const known = NAMED.find((name) => name === kind);
  return `${known === undefined ? kind : t(`kinds.${known}`)} ${id}`;
}

async function findNames(
  api: ApiClient,
  wanted: readonly string[],
  mayBeGone: boolean,
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  for (const kind of KINDS) {
    const ids = wanted.filter((key) => key.startsWith(`${kind} `)).map((key) => Number(key.slice(kind.length + 1)));
    for (const [id, name] of await findNamesOf(api, { kind, ids, mayBeGone }, signal))
      names.set(keyOf({ kind, id }), name);
  }
  return names;
}

async function findNamesOf(
  api: ApiClient,
  { kind, ids, mayBeGone }: { kind: NamedKind; ids: readonly number[]; mayBeGone: boolean },
  signal: AbortSignal,
): Promise<Map<number, string>> {
  const names = new Map<number, string>();
  if (ids.length >= MANY || (mayBeGone && ids.length > 0)) {
    const { items } = await findResources(api, kind, '', signal).catch(() => ({ items: [] }));
    for (const { id, name } of items) names.set(id, name);
  }
  for (const id of ids) {
    if (signal.aborted) break;
    if (names.has(id)) continue;
    names.set(id, mayBeGone ? t('choose.named', { kind: t(`kinds.${kind}`), id }) : await nameResource(api, kind, id));
  }
  return names;
}
