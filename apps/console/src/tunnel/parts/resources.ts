import type {
  HostPage,
  HostView,
  TunnelClientPage,
  TunnelPage,
  TunnelUserPage,
  TunnelUserView,
  TunnelView,
} from '@gatehouse/contracts';
import type { ApiClient } from '../../shared/api/api-client.js';
import { nameOf as hostName } from '../hosts/host-address.js';
import { t } from '../messages/index.js';
import { nameOf as tunnelName } from '../tunnels/tunnel-name.js';

export type ResourceKind = 'client' | 'tunnel' | 'host';

/** What has a name; users are for administrators only. */
export type NamedKind = ResourceKind | 'user';

export interface NamedResource {
  id: number;
  name: string;
}

export interface ResourceChoices {
  items: NamedResource[];
  /** There are more than these: search for a part of the name. */
  isCut: boolean;
}

const SHOWN = 200;

const SORTS: Readonly<Record<NamedKind, string>> = { client: 'name', tunnel: 'name', host: 'host', user: 'username' };

/** Clients, tunnels, hosts or users to choose from. */
export async function findResources(
  api: ApiClient,
  kind: NamedKind,
  q: string,
  signal: AbortSignal,
): Promise<ResourceChoices> {
  const query = { limit: SHOWN, q, sort: SORTS[kind] };
  if (kind === 'client') {
    const { items, next_cursor } = await api.get<TunnelClientPage>('/clients', query, signal);
    return { items: items.map(({ id, name }) => ({ id, name })), isCut: next_cursor !== null };
  }
  if (kind === 'tunnel') {
    const { items, next_cursor } = await api.get<TunnelPage>('/tunnels', query, signal);
    return { items: items.map((row) => ({ id: row.id, name: tunnelName(row) })), isCut: next_cursor !== null };
  }
  if (kind === 'user') {
    const { items, next_cursor } = await api.get<TunnelUserPage>('/users', query, signal);
    return { items: items.map(({ id, username }) => ({ id, name: username })), isCut: next_cursor !== null };
  }
  const { items, next_cursor } = await api.get<HostPage>('/hosts', query, signal);
  return { items: items.map((row) => ({ id: row.id, name: hostName(row) })), isCut: next_cursor !== null };
}

/** The name of one; its kind and number where it is gone. */
export async function nameResource(api: ApiClient, kind: NamedKind, id: number): Promise<string> {
  try {
    if (kind === 'client') return (await api.get<NamedResource>(`/clients/${id}`)).name;
    if (kind === 'user') return (await api.get<TunnelUserView>(`/users/${id}`)).username;
    if (kind === 'tunnel') return tunnelName(await api.get<TunnelView>(`/tunnels/${id}`));
    return hostName(await api.get<HostView>(`/hosts/${id}`));
  } catch {
    // Gone, or the service does not answer: then the list around it says so.
    return `${t(`kinds.${kind}`)} ${id}`;
  }
}
